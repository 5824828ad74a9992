// Renders the Helm chart for tests: `npm run gen:chart`, after each change of it. Only this command needs `helm`:
// its output is committed with a hash of the chart, and test/deploy/helm.test.ts fails when the two do not match.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'
import { type ServiceName, startableName } from '#scripts/service/services.ts'
import { readProcfile } from '#scripts/start/procfile.ts'
import { SETTINGS_OF } from '#shared/config/process-settings.ts'

/** Rules about process types that do not run at all, for installations with a process per type; `serve` has no use for them. */
const PROCESS_ALERTS_FILE = join(ROOT, 'deploy', 'prometheus', 'processes.generated.yml')

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

const CHART = join(ROOT, 'deploy', 'helm', 'paymesh')

/** Custom resources of KEDA and of prometheus-operator. */
const OPERATORS = [
  'keda.sh/v1alpha1/ScaledObject',
  'monitoring.coreos.com/v1/PodMonitor',
  'monitoring.coreos.com/v1/PrometheusRule',
]

interface Rendering {
  readonly values: readonly string[]
  /** Kinds that the cluster has beside its own. */
  readonly apis: readonly string[]
}

/** Renderings: the default values, separate scanners for some networks, no autoscaler, and a cluster without any operator. */
export const RENDERINGS: Readonly<Record<string, Rendering>> = {
  default: { values: [], apis: OPERATORS },
  'scanner-groups': {
    values: ['scannerGroups={"bitcoin":["bitcoin","litecoin"],"evm":["ethereum"]}'],
    apis: OPERATORS,
  },
  'backup-s3': {
    values: ['backup.s3={"enabled":true,"image":"rclone/rclone:1.70","bucket":"archives","secret":"s3"}'],
    apis: OPERATORS,
  },
  'without-keda': {
    values: ['keda.enabled=false', 'autoscaling.enabled=false', 'networkPolicy.enabled=false', 'ingress.enabled=false'],
    apis: OPERATORS,
  },
  'bare-cluster': {
    values: [
      'extraEnv=[{"name":"NODE_EXTRA_CA_CERTS","value":"/ca/ca.crt"}]',
      'extraVolumes=[{"name":"ca","configMap":{"name":"internal-ca"}}]',
      'extraVolumeMounts=[{"name":"ca","mountPath":"/ca","readOnly":true}]',
    ],
    apis: [],
  },
}

/** Hash of every file of the chart. */
export function chartHash(): string {
  const hash = createHash('sha256')
  const files = readdirSync(CHART, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  for (const file of files.sort())
    hash.update(file.slice(CHART.length)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** The chart reads from here which settings a process receives. */
export const PROCESS_SETTINGS_FILE = join(CHART, 'files', 'process-settings.json')

/** The text of that file: settings by process, as declared in `shared/config/process-settings.ts`. */
export function processSettingsText(): string {
  const lines = Object.entries(SETTINGS_OF).map(([name, settings]) => `  "${name}": ${JSON.stringify(settings)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

/** Files outside the chart that it contains as copies, because Helm reads none outside: source and copy. */
export function copiedFiles(): readonly (readonly [source: string, copy: string])[] {
  const dashboards = join(ROOT, 'deploy', 'grafana', 'dashboards')
  return [
    [join(ROOT, 'deploy', 'prometheus', 'alerts.yml'), join(CHART, 'files', 'alerts.yml')],
    [PROCESS_ALERTS_FILE, join(CHART, 'files', 'processes.generated.yml')],
    ...readdirSync(dashboards)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [join(dashboards, name), join(CHART, 'files', 'dashboards', name)] as const),
  ]
}

/** Path of a rendering in the checkout. */
export const renderedFile = (name: string): string => join(ROOT, 'test', 'deploy', 'rendered', `${name}.generated.yaml`)

function helm(...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('helm', args, { encoding: 'utf8' })
  if (error !== undefined) throw new Error('helm is missing; with Go: go install helm.sh/helm/v3/cmd/helm@v3.18.6')
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
  return stdout
}

if (import.meta.filename === process.argv[1]) {
  mkdirSync(dirname(PROCESS_SETTINGS_FILE), { recursive: true })
  writeFileSync(PROCESS_SETTINGS_FILE, processSettingsText())
  writeFileSync(PROCESS_ALERTS_FILE, processAlertsText())
  for (const [source, copy] of copiedFiles()) {
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, readFileSync(source))
  }
  process.stdout.write(helm('lint', '--strict', CHART))
  for (const [name, { values, apis }] of Object.entries(RENDERINGS)) {
    const sets = [
      ...values.flatMap((value) => ['--set-json', value]),
      ...apis.flatMap((api) => ['--api-versions', api]),
    ]
    const text = helm('template', 'pay', CHART, '--namespace', 'money', '--kube-version', '1.32.0', ...sets)
    writeFileSync(renderedFile(name), `# chart ${chartHash()}\n${text}`)
    process.stdout.write(`${renderedFile(name)}\n`)
  }
}
