// Program rig-pod is the one program inside the rig's container images.
//
// As `pause` it holds a pod's sandbox, as `serve` it answers HTTP, and as
// `exit` it ends with a given code. It needs nothing but itself in its image.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

const version = "rig-pod v1"

func main() {
	command := "pause"
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "pause":
		waitForSignal()
	case "serve":
		serve(argument("8080"))
	case "exit":
		exit(argument("0"))
	case "version":
		fmt.Println(version)
	default:
		fmt.Fprintf(os.Stderr, "rig-pod: unknown command %q; use pause, serve [PORT], exit [CODE] or version\n", command)
		os.Exit(2)
	}
}

func argument(otherwise string) string {
	if len(os.Args) > 2 {
		return os.Args[2]
	}
	return otherwise
}

// waitForSignal also reaps: in a pod with a shared process namespace the
// sandbox is process 1 and inherits every orphan.
func waitForSignal() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for reaped := 1; reaped > 0; {
			reaped, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}

func serve(port string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s from %s\n", r.Method, r.URL.Path, host)
	})
	go func() {
		waitForSignal()
		os.Exit(0)
	}()
	fmt.Printf("serving on port %s\n", port)
	if err := http.ListenAndServe(":"+port, nil); err != nil {
		fmt.Fprintf(os.Stderr, "rig-pod: %v\n", err)
		os.Exit(1)
	}
}

func exit(code string) {
	number, err := strconv.Atoi(code)
	if err != nil {
		fmt.Fprintf(os.Stderr, "rig-pod: exit code %q is not a number\n", code)
		os.Exit(2)
	}
	os.Exit(number)
}
