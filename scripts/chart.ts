// Renders the Helm chart as tests look at it: `npm run gen:chart`, after each change of it. It needs `helm` and nothing else does:
// what it made is committed with a hash of the chart, and test/deploy/helm.test.ts fails when the two do not belong together.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SETTINGS_OF } from '#shared/config/process-settings.ts'
import { ROOT } from './bundle.mjs'

const CHART = join(ROOT, 'deploy', 'helm', 'paymesh')

/** What is rendered: the values as they are, and with scanners of their own for some networks. */
export const RENDERINGS: Readonly<Record<string, readonly string[]>> = {
  default: [],
  'scanner-groups': ['scannerGroups={"bitcoin":["bitcoin","litecoin"],"evm":["ethereum"]}'],
  'without-keda': ['keda.enabled=false', 'networkPolicy.enabled=false', 'ingress.enabled=false'],
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

/** Where the chart reads which settings a process is given. */
export const PROCESS_SETTINGS_FILE = join(CHART, 'files', 'process-settings.json')

/** The text of that file: settings by process, as `shared/config/process-settings.ts` declares them. */
export function processSettingsText(): string {
  const lines = Object.entries(SETTINGS_OF).map(([name, settings]) => `  "${name}": ${JSON.stringify(settings)}`)
  return `{\n${lines.join(',\n')}\n}\n`
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
  process.stdout.write(helm('lint', '--strict', CHART))
  for (const [name, values] of Object.entries(RENDERINGS)) {
    const sets = values.flatMap((value) => ['--set-json', value])
    const text = helm('template', 'pay', CHART, '--namespace', 'money', '--kube-version', '1.32.0', ...sets)
    writeFileSync(renderedFile(name), `# chart ${chartHash()}\n${text}`)
    process.stdout.write(`${renderedFile(name)}\n`)
  }
}
