// Program hcloud-judge builds a small cluster's resources through Hetzner's own
// Go client, looks at them, takes them down again and says what it saw.
//
// It is a judge of the simulated API: it knows nothing of the simulator, and
// what it cannot read or did not expect ends it with an error.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Patience is the time for everything, far beyond what it takes.
const patience = 2 * time.Minute

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println("hcloud-go " + hcloud.Version)
		return
	}
	endpoint := flag.String("endpoint", "", "address of the API, with its version")
	authority := flag.String("ca", "", "file with the certificate to trust")
	flag.Parse()
	client, err := connect(*endpoint, *authority, os.Getenv("HCLOUD_TOKEN"))
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	verdict, err := judge(ctx, client)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdict); err != nil {
		fail(err)
	}
}

func connect(endpoint, authority, token string) (*hcloud.Client, error) {
	pem, err := os.ReadFile(authority)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", authority)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true,
	}
	soon := hcloud.ConstantBackoff(20 * time.Millisecond)
	return hcloud.NewClient(
		hcloud.WithEndpoint(endpoint),
		hcloud.WithToken(token),
		hcloud.WithHTTPClient(&http.Client{Transport: transport}),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: soon}),
		hcloud.WithRetryOpts(hcloud.RetryOpts{BackoffFunc: soon, MaxRetries: 5}),
		hcloud.WithApplication("hcloud-judge", "1"),
	), nil
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "hcloud-judge: %v\n", err)
	os.Exit(1)
}
