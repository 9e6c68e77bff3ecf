package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

const second = time.Second

// Look reads everything back, in pages of two.
func look(ctx context.Context, client *hcloud.Client, built *scene, verdict *Verdict) error {
	opts := hcloud.ServerListOpts{ListOpts: hcloud.ListOpts{LabelSelector: selector, PerPage: 2, Page: 1}}
	for opts.Page != 0 {
		servers, response, err := client.Server.List(ctx, opts)
		if err != nil {
			return err
		}
		verdict.Servers += len(servers)
		verdict.Pages++
		opts.Page = response.Meta.Pagination.NextPage
		if response.Meta.Ratelimit.Limit == 0 {
			return errors.New("no rate limit was told")
		}
	}
	first, _, err := client.Server.GetByName(ctx, "judge-1")
	if err != nil || first == nil {
		return fmt.Errorf("judge-1 was not found: %w", err)
	}
	if first.Status != hcloud.ServerStatusRunning || len(first.Volumes) != 1 {
		return fmt.Errorf("judge-1 is %s with %d volumes", first.Status, len(first.Volumes))
	}
	if len(first.PrivateNet) != 1 || first.PrivateNet[0].MACAddress == "" {
		return fmt.Errorf("judge-1 has no private address: %+v", first.PrivateNet)
	}
	verdict.FixedIP = first.PrivateNet[0].IP.String()
	if len(first.PublicNet.Firewalls) != 1 {
		return fmt.Errorf("judge-1 has %d firewalls", len(first.PublicNet.Firewalls))
	}
	verdict.FirewallStatus = string(first.PublicNet.Firewalls[0].Status)
	return lookAtTargets(ctx, client, built, verdict)
}

// LookAtTargets waits until the health checks have made up their mind.
func lookAtTargets(ctx context.Context, client *hcloud.Client, built *scene, verdict *Verdict) error {
	for {
		balancer, _, err := client.LoadBalancer.GetByID(ctx, built.balancer.ID)
		if err != nil {
			return err
		}
		if len(balancer.Targets) != 1 || len(balancer.Targets[0].Targets) != len(built.servers) {
			return fmt.Errorf("targets: %+v", balancer.Targets)
		}
		verdict.TargetHealth = nil
		decided := true
		for _, target := range balancer.Targets[0].Targets {
			status := target.HealthStatus[0].Status
			decided = decided && status != hcloud.LoadBalancerTargetHealthStatusStatusUnknown
			said := string(status)
			if detail := target.HealthStatus[0].Detail; detail != nil {
				said += ": " + string(*detail)
			}
			verdict.TargetHealth = append(verdict.TargetHealth, said)
		}
		if decided {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Refusals asks for what cannot be, and notes the codes.
func refusals(ctx context.Context, client *hcloud.Client, built *scene, verdict *Verdict) error {
	note := func(what string, err error) {
		var refusal hcloud.Error
		if errors.As(err, &refusal) {
			verdict.Refusals[what] = string(refusal.Code)
		} else {
			verdict.Refusals[what] = fmt.Sprint(err)
		}
	}
	_, _, err := client.Network.Create(ctx, hcloud.NetworkCreateOpts{Name: "judge", IPRange: cidr("10.1.0.0/16")})
	note("same name", err)
	_, _, err = client.Network.Create(ctx, hcloud.NetworkCreateOpts{Name: "public", IPRange: cidr("8.8.8.0/24")})
	note("public range", err)
	var refusal hcloud.Error
	if errors.As(err, &refusal) {
		details, ok := refusal.Details.(hcloud.ErrorDetailsInvalidInput)
		if !ok || len(details.Fields) == 0 {
			return fmt.Errorf("no fields are named: %+v", refusal)
		}
		verdict.Refusals["public range, field"] = details.Fields[0].Name
	}
	_, err = client.Firewall.Delete(ctx, built.firewall)
	note("firewall in use", err)
	_, _, err = client.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name:       "old",
		ServerType: &hcloud.ServerType{Name: "cx22"},
		Image:      &hcloud.Image{Name: "debian-13"},
	})
	note("old server type", err)
	nobody, _, err := client.Server.GetByID(ctx, 1)
	if nobody != nil || err != nil {
		return fmt.Errorf("server 1: %v, %w", nobody, err)
	}
	action, _, err := client.Network.ChangeProtection(ctx, built.network,
		hcloud.NetworkChangeProtectionOpts{Delete: hcloud.Ptr(true)})
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, action); err != nil {
		return err
	}
	_, err = client.Network.Delete(ctx, built.network)
	note("protected", err)
	action, _, err = client.Network.ChangeProtection(ctx, built.network,
		hcloud.NetworkChangeProtectionOpts{Delete: hcloud.Ptr(false)})
	if err != nil {
		return err
	}
	return client.Action.WaitFor(ctx, action)
}

// Teardown deletes everything in the order that Hetzner asks for.
func teardown(ctx context.Context, client *hcloud.Client, built *scene, _ *Verdict) error {
	action, _, err := client.Volume.Detach(ctx, built.volume)
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, action); err != nil {
		return err
	}
	for _, server := range built.servers {
		result, _, err := client.Server.DeleteWithResult(ctx, server)
		if err != nil {
			return err
		}
		if err := client.Action.WaitFor(ctx, result.Action); err != nil {
			return err
		}
	}
	actions, _, err := client.Firewall.RemoveResources(ctx, built.firewall, []hcloud.FirewallResource{{
		Type:          hcloud.FirewallResourceTypeLabelSelector,
		LabelSelector: &hcloud.FirewallResourceLabelSelector{Selector: selector},
	}})
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, actions...); err != nil {
		return err
	}
	removed, _, err := client.LoadBalancer.DeleteWithResult(ctx, built.balancer)
	if err != nil {
		return err
	}
	if err := client.Action.WaitFor(ctx, removed.Action); err != nil {
		return err
	}
	deletions := []func() (*hcloud.Response, error){
		func() (*hcloud.Response, error) { return client.Volume.Delete(ctx, built.volume) },
		func() (*hcloud.Response, error) { return client.Firewall.Delete(ctx, built.firewall) },
		func() (*hcloud.Response, error) { return client.Network.Delete(ctx, built.network) },
		func() (*hcloud.Response, error) { return client.PlacementGroup.Delete(ctx, built.group) },
		func() (*hcloud.Response, error) { return client.SSHKey.Delete(ctx, built.key) },
	}
	for _, remove := range deletions {
		if _, err := remove(); err != nil {
			return err
		}
	}
	return nil
}

// Leftovers counts what is still there.
func leftovers(ctx context.Context, client *hcloud.Client, _ *scene, verdict *Verdict) error {
	counts := []func() (int, error){
		count(ctx, client.Server.All),
		count(ctx, client.Volume.All),
		count(ctx, client.LoadBalancer.All),
		count(ctx, client.Firewall.All),
		count(ctx, client.Network.All),
		count(ctx, client.PlacementGroup.All),
		count(ctx, client.SSHKey.All),
		count(ctx, client.PrimaryIP.All),
		count(ctx, client.FloatingIP.All),
		count(ctx, client.Certificate.All),
	}
	for _, one := range counts {
		left, err := one()
		if err != nil {
			return err
		}
		verdict.Leftovers += left
	}
	return nil
}

func count[T any](ctx context.Context, all func(context.Context) ([]*T, error)) func() (int, error) {
	return func() (int, error) {
		resources, err := all(ctx)
		return len(resources), err
	}
}
