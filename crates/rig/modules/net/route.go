package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"syscall"
	"unsafe"
)

// rtentry is the kernel's struct rtentry on 64-bit machines.
type rtentry struct {
	_           uint64
	destination sockaddr
	gateway     sockaddr
	mask        sockaddr
	flags       uint16
	_           [2]byte
	_           [4]byte
	_           uint64
	_           [8]byte
	metric      int16
	_           [6]byte
	device      uintptr
	_           [24]byte
}

// sockaddr is the kernel's struct sockaddr_in.
type sockaddr struct {
	family  uint16
	port    uint16
	address [4]byte
	_       [8]byte
}

// addRoute leads packets for a subnet to a gateway on the same link. A route
// that is there already is good.
func addRoute(subnet, gateway string) error {
	_, network, err := net.ParseCIDR(subnet)
	if err != nil {
		return err
	}
	by, mask := net.ParseIP(gateway).To4(), net.IP(network.Mask).To4()
	if by == nil || mask == nil || network.IP.To4() == nil {
		return fmt.Errorf("no route to %s by way of %q", subnet, gateway)
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	route := rtentry{
		destination: inet(network.IP), gateway: inet(by), mask: inet(mask),
		flags: syscall.RTF_UP | syscall.RTF_GATEWAY,
	}
	_, _, failure := syscall.Syscall(
		syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCADDRT, uintptr(unsafe.Pointer(&route)))
	if failure != 0 && !errors.Is(failure, syscall.EEXIST) {
		return fmt.Errorf("route to %s by way of %s: %w", subnet, gateway, failure)
	}
	return nil
}

func inet(address net.IP) sockaddr {
	out := sockaddr{family: syscall.AF_INET}
	binary.BigEndian.PutUint32(out.address[:], binary.BigEndian.Uint32(address.To4()))
	return out
}
