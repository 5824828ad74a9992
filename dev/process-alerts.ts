import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'
import { type ServiceName, startableName } from '#scripts/service/services.ts'
import { readProcfile } from '#scripts/start/procfile.ts'

/** Rules about process types that do not run at all, for installations with a process per type; `serve` has no use for them. */
export const PROCESS_ALERTS_FILE = join(ROOT, 'deploy', 'prometheus', 'processes.generated.yml')

/** page = payments are not seen, applied or announced, or payers and merchants see nothing. */
const SEVERITY: Readonly<Record<ServiceName, 'page' | 'ticket'>> = {
  mailer: 'ticket',
  webhooks: 'page',
  maintenance: 'ticket',
  invoices: 'page',
  // RatesStale pages before it matters.
  rates: 'ticket',
  scanner: 'page',
  checkout: 'page',
  admin: 'ticket',
  api: 'page',
}

/**
 * The text of that file, an alert for each line of the Procfile. `up == 0` cannot see a process that left service discovery: a container that
 * stopped under Compose's DNS, a pod that no node takes. A scanner of a group of networks is called `scanner-GROUP`.
 */
export function processAlertsText(): string {
  const rules = readProcfile().map(({ name: given }) => {
    const name = startableName(given)
    if (name === undefined) throw new Error(`the Procfile has ${given}, which no service is called`)
    return `      - alert: ProcessMissing
        expr: absent(up{job="paymesh",process=~"${name}(-.+)?"} == 1)
        for: 1m
        labels: { severity: ${SEVERITY[name]}, process: ${name} }
        annotations:
          summary: "No ${name} process responds to Prometheus"
`
  })
  return `# Generated from the Procfile: npm run gen:chart
groups:
  - name: paymesh-processes
    rules:
${rules.join('')}`
}
