package main

import (
	"context"
	"fmt"
	"net"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Verdict is what the judge saw.
type Verdict struct {
	Locations      int               `json:"locations"`
	MonthlyNet     string            `json:"monthly_net"`
	Servers        int               `json:"servers"`
	Pages          int               `json:"pages"`
	FixedIP        string            `json:"fixed_ip"`
	FirewallStatus string            `json:"firewall_status"`
	TargetHealth   []string          `json:"target_health"`
	Refusals       map[string]string `json:"refusals"`
	Leftovers      int               `json:"leftovers"`
}

// Scene is what the judge has built.
type scene struct {
	key      *hcloud.SSHKey
	network  *hcloud.Network
	firewall *hcloud.Firewall
	group    *hcloud.PlacementGroup
	balancer *hcloud.LoadBalancer
	servers  []*hcloud.Server
	volume   *hcloud.Volume
}

var labels = map[string]string{"judge": "yes"}

const selector = "judge=yes"

func judge(ctx context.Context, client *hcloud.Client) (*Verdict, error) {
	verdict := &Verdict{Refusals: map[string]string{}}
	built := &scene{}
	steps := []struct {
		name string
		run  func(context.Context, *hcloud.Client, *scene, *Verdict) error
	}{
		{"catalogue", catalogue},
		{"network", buildNetwork},
		{"firewall", buildFirewall},
		{"balancer", buildBalancer},
		{"servers", buildServers},
		{"volume", buildVolume},
		{"look", look},
		{"refusals", refusals},
		{"teardown", teardown},
		{"leftovers", leftovers},
	}
	for _, step := range steps {
		if err := step.run(ctx, client, built, verdict); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return verdict, nil
}

func catalogue(ctx context.Context, client *hcloud.Client, _ *scene, verdict *Verdict) error {
	locations, err := client.Location.All(ctx)
	if err != nil {
		return err
	}
	verdict.Locations = len(locations)
	kind, _, err := client.ServerType.GetByName(ctx, "cx23")
	if err != nil || kind == nil {
		return fmt.Errorf("server type: %v: %w", kind, err)
	}
	if len(kind.Locations) == 0 || !kind.Locations[0].Available {
		return fmt.Errorf("server type is available nowhere: %+v", kind.Locations)
	}
	pricing, _, err := client.Pricing.Get(ctx)
	if err != nil {
		return err
	}
	for _, entry := range pricing.ServerTypes {
		if entry.ServerType.Name == "cx23" {
			verdict.MonthlyNet = entry.Pricings[0].Monthly.Net
		}
	}
	if _, err := client.LoadBalancerType.All(ctx); err != nil {
		return err
	}
	images, err := client.Image.AllWithOpts(ctx, hcloud.ImageListOpts{
		Type:         []hcloud.ImageType{hcloud.ImageTypeSystem},
		Architecture: []hcloud.Architecture{hcloud.ArchitectureX86},
	})
	if err != nil || len(images) == 0 {
		return fmt.Errorf("%d images: %w", len(images), err)
	}
	return nil
}

func buildNetwork(ctx context.Context, client *hcloud.Client, built *scene, _ *Verdict) error {
	key, _, err := client.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{
		Name: "judge", PublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA judge", Labels: labels,
	})
	if err != nil {
		return err
	}
	built.key = key
	network, _, err := client.Network.Create(ctx, hcloud.NetworkCreateOpts{
		Name: "judge", IPRange: cidr("10.0.0.0/16"), Labels: labels,
	})
	if err != nil {
		return err
	}
	built.network = network
	// The second call meets the first one's action: the client retries `conflict`
	// a few times, so waiting is what a patient caller does.
	for _, ipRange := range []string{"10.0.64.0/25", "10.0.64.128/25"} {
		action, _, err := client.Network.AddSubnet(ctx, network, hcloud.NetworkAddSubnetOpts{
			Subnet: hcloud.NetworkSubnet{
				Type:        hcloud.NetworkSubnetTypeCloud,
				IPRange:     cidr(ipRange),
				NetworkZone: hcloud.NetworkZoneEUCentral,
			},
		})
		if err != nil {
			return err
		}
		if err := client.Action.WaitFor(ctx, action); err != nil {
			return err
		}
	}
	return nil
}

func buildFirewall(ctx context.Context, client *hcloud.Client, built *scene, _ *Verdict) error {
	result, _, err := client.Firewall.Create(ctx, hcloud.FirewallCreateOpts{
		Name:   "judge",
		Labels: labels,
		Rules: []hcloud.FirewallRule{{
			Direction: hcloud.FirewallRuleDirectionIn,
			Protocol:  hcloud.FirewallRuleProtocolTCP,
			Port:      hcloud.Ptr("6443"),
			SourceIPs: []net.IPNet{*cidr("0.0.0.0/0")},
		}},
		ApplyTo: []hcloud.FirewallResource{{
			Type:          hcloud.FirewallResourceTypeLabelSelector,
			LabelSelector: &hcloud.FirewallResourceLabelSelector{Selector: selector},
		}},
	})
	if err != nil {
		return err
	}
	built.firewall = result.Firewall
	group, _, err := client.PlacementGroup.Create(ctx, hcloud.PlacementGroupCreateOpts{
		Name: "judge", Type: hcloud.PlacementGroupTypeSpread, Labels: labels,
	})
	if err != nil {
		return err
	}
	built.group = group.PlacementGroup
	return client.Action.WaitFor(ctx, result.Actions...)
}

func buildBalancer(ctx context.Context, client *hcloud.Client, built *scene, _ *Verdict) error {
	result, _, err := client.LoadBalancer.Create(ctx, hcloud.LoadBalancerCreateOpts{
		Name:             "judge",
		LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"},
		Location:         &hcloud.Location{Name: "fsn1"},
		Labels:           labels,
	})
	if err != nil {
		return err
	}
	built.balancer = result.LoadBalancer
	if err := client.Action.WaitFor(ctx, result.Action); err != nil {
		return err
	}
	action, _, err := client.LoadBalancer.AttachToNetwork(ctx, built.balancer,
		hcloud.LoadBalancerAttachToNetworkOpts{Network: built.network, IP: net.ParseIP("10.0.64.254")})
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, action); err != nil {
		return err
	}
	action, _, err = client.LoadBalancer.AddService(ctx, built.balancer, hcloud.LoadBalancerAddServiceOpts{
		Protocol:        hcloud.LoadBalancerServiceProtocolTCP,
		ListenPort:      hcloud.Ptr(16443),
		DestinationPort: hcloud.Ptr(16443),
		HealthCheck: &hcloud.LoadBalancerAddServiceOptsHealthCheck{
			Protocol: hcloud.LoadBalancerServiceProtocolHTTP,
			Port:     hcloud.Ptr(16443),
			Interval: hcloud.Ptr(3 * second),
			Timeout:  hcloud.Ptr(2 * second),
			Retries:  hcloud.Ptr(2),
			HTTP: &hcloud.LoadBalancerAddServiceOptsHealthCheckHTTP{
				Path: hcloud.Ptr("/version"), StatusCodes: []string{"401"}, TLS: hcloud.Ptr(true),
			},
		},
	})
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, action); err != nil {
		return err
	}
	action, _, err = client.LoadBalancer.AddLabelSelectorTarget(ctx, built.balancer,
		hcloud.LoadBalancerAddLabelSelectorTargetOpts{Selector: selector, UsePrivateIP: hcloud.Ptr(true)})
	if err != nil {
		return err
	}
	return client.Action.WaitFor(ctx, action)
}

func buildServers(ctx context.Context, client *hcloud.Client, built *scene, _ *Verdict) error {
	for _, name := range []string{"judge-1", "judge-2", "judge-3"} {
		opts := hcloud.ServerCreateOpts{
			Name:             name,
			ServerType:       &hcloud.ServerType{Name: "cx23"},
			Image:            &hcloud.Image{Name: "debian-13"},
			Location:         &hcloud.Location{Name: "fsn1"},
			SSHKeys:          []*hcloud.SSHKey{built.key},
			PlacementGroup:   built.group,
			Labels:           labels,
			StartAfterCreate: hcloud.Ptr(name != "judge-1"),
		}
		if name != "judge-1" {
			opts.Networks = []*hcloud.Network{built.network}
		}
		result, _, err := client.Server.Create(ctx, opts)
		if err != nil {
			return err
		}
		if err := client.Action.WaitFor(ctx, append(result.NextActions, result.Action)...); err != nil {
			return err
		}
		built.servers = append(built.servers, result.Server)
	}
	first := built.servers[0]
	action, _, err := client.Server.AttachToNetwork(ctx, first, hcloud.ServerAttachToNetworkOpts{
		Network: built.network, IP: net.ParseIP("10.0.64.11"),
	})
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, action); err != nil {
		return err
	}
	action, _, err = client.Server.Poweron(ctx, first)
	if err != nil {
		return err
	}
	return client.Action.WaitFor(ctx, action)
}

func buildVolume(ctx context.Context, client *hcloud.Client, built *scene, _ *Verdict) error {
	result, _, err := client.Volume.Create(ctx, hcloud.VolumeCreateOpts{
		Name: "judge", Size: 10, Server: built.servers[0], Labels: labels,
	})
	if err != nil {
		return err
	}
	built.volume = result.Volume
	return client.Action.WaitFor(ctx, append(result.NextActions, result.Action)...)
}

func cidr(text string) *net.IPNet {
	_, network, err := net.ParseCIDR(text)
	if err != nil {
		panic(err)
	}
	return network
}
