// The API server of Kubernetes, as its own main package has it.
package main

import (
	"os"
	_ "time/tzdata" // for time zones of CronJobs

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
