//! What happened: the event vocabulary, the journal and its laws, redaction.
