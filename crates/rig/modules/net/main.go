// Program rig-net is a small pod network, delivered as other pod networks are:
// by manifests, as a pod on every node.
//
// It gives the pods of its node a bridge with the subnet that Kubernetes has
// chosen for them, and its node a route to the pods of every other node. All
// nodes hang on one link, so nothing more is needed.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

const (
	version = "rig-net v1"
	account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	folder  = "/etc/cni/net.d"
	file    = "10-rig-net.conflist"
	// Only this node asks: its kubelet.
	health = "127.0.0.1:9911"
	pause  = 2 * time.Second
)

// node is what matters of a Node.
type node struct {
	Metadata struct{ Name string }
	Spec     struct{ PodCIDR string }
	Status   struct {
		Addresses []struct{ Type, Address string }
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println(version)
		return
	}
	own := os.Getenv("NODE_NAME")
	if own == "" {
		log.Fatal("rig-net: NODE_NAME is not set")
	}
	var ready atomic.Bool
	go tellHealth(&ready)
	for {
		err := connect(own)
		if err != nil {
			log.Print(err)
		}
		ready.Store(err == nil)
		time.Sleep(pause)
	}
}

func tellHealth(ready *atomic.Bool) {
	http.HandleFunc("/healthz", func(answer http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(answer, "pods have no network yet", http.StatusServiceUnavailable)
		}
	})
	log.Fatal(http.ListenAndServe(health, nil))
}

// connect brings the node's network to what the cluster says now.
func connect(own string) error {
	nodes, err := list()
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	for _, other := range nodes {
		subnet := other.Spec.PodCIDR
		if subnet == "" {
			if other.Metadata.Name == own {
				return fmt.Errorf("%s has no subnet for pods yet", own)
			}
			continue
		}
		if other.Metadata.Name == own {
			err = describe(subnet)
		} else {
			err = addRoute(subnet, other.address())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", other.Metadata.Name, err)
		}
	}
	return nil
}

func (n node) address() string {
	for _, address := range n.Status.Addresses {
		if address.Type == "InternalIP" {
			return address.Address
		}
	}
	return ""
}

// list asks the API as the pod's service account.
func list() ([]node, error) {
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 10 * time.Second}
	host := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	request, err := http.NewRequest(http.MethodGet, "https://"+host+"/api/v1/nodes", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the API says %s", answer.Status)
	}
	var listed struct{ Items []node }
	return listed.Items, json.NewDecoder(answer.Body).Decode(&listed)
}

// describe tells the container runtime how pods are connected. It watches the
// folder: a half-written file would be read.
func describe(subnet string) error {
	ipam := map[string]any{
		"type":   "host-local",
		"ranges": [][]map[string]string{{{"subnet": subnet}}},
		"routes": []map[string]string{{"dst": "0.0.0.0/0"}},
	}
	bridge := map[string]any{
		"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
		"ipam": ipam,
	}
	ports := map[string]any{"type": "portmap", "capabilities": map[string]bool{"portMappings": true}}
	text, err := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0", "name": "rig-net", "plugins": []any{bridge, ports},
	}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, file)
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
