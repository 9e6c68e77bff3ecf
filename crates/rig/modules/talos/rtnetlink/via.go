package rtnetlink

import "net"

// RouteVia is a next hop of another address family. Talos names it; releases
// of this module before it have no such attribute, and it is never sent.
type RouteVia struct {
	Family uint16
	Addr   net.IP
}

// JoinGroup subscribes the connection to a multicast group, where the kind of
// connection can.
func (c *Conn) JoinGroup(group uint32) error {
	joiner, can := c.c.(interface{ JoinGroup(group uint32) error })
	if !can {
		return nil
	}
	return joiner.JoinGroup(group)
}
