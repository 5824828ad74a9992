import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError } from '#shared/config/schema.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { DevInfo } from './dev-info.ts'
import { givenSettings } from './environment.ts'
import { parseScale } from './scale.ts'
import { type Stack, startStack } from './stack.ts'
import { DEVELOPMENT_PORTS, type StackOptions } from './stack-options.ts'

/** Ports chosen by the start, because links must contain the actual port. */
const CHOSEN_PORTS: readonly string[] = ['PAYMESH_API_PORT', 'PAYMESH_CHECKOUT_PORT', 'PAYMESH_ADMIN_PORT']
/** Two signals closer than this count as one. */
const ECHO_MS = 500

const HELP = `npm start -- [options]   runs Paymesh for development, with its stores, local chains and simulated exchanges

  --processes    one process per line of the Procfile, with Redis between them, instead of one for all without it
  --scale T=N    with --processes: N processes of type T, again and again or as T=N,T=N; further ones are named T-2, T-3 …
                 and those of api, checkout and admin share one port, connections going to each in turn
  --chains LIST  development nodes to start: networks separated by commas, or all (default ethereum);
                 what is not installed is named and left out
  --data DIR     keep data in DIR (default .data)
  --port N       port of the API (default ${DEVELOPMENT_PORTS.api}; a free one when it is taken)
  --no-install   print what is missing instead of installing it with apt-get, which otherwise happens as root
  --help         this text

MONGO_URL and, with --processes, REDIS_URL name stores to use instead of own ones; .env.example lists every setting.
Ctrl-C ends everything. Data, keys and addresses stay in the data folder.
`

/** Result of the command line: options, a text to show, or an error to report. */
function readArgs(args: readonly string[]): StackOptions | { readonly text: string; readonly status: number } {
  const options = {
    processes: { type: 'boolean', default: false },
    scale: { type: 'string', multiple: true, default: [] as string[] },
    chains: { type: 'string', default: 'ethereum' },
    data: { type: 'string', default: '.data' },
    port: { type: 'string', default: process.env['PAYMESH_API_PORT'] || String(DEVELOPMENT_PORTS.api) },
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options })
    if (values.help) return { text: HELP, status: 0 }
    const api = Number(values.port)
    if (!/^\d+$/.test(values.port) || api > 65_535) throw new Error(`--port takes 0 to 65535, not ${values.port}`)
    const networks = networksOf(values.chains)
    const scale = parseScale(values.scale)
    if (values.scale.length > 0 && !values.processes) throw new Error('--scale needs --processes')
    const ports = {
      ...DEVELOPMENT_PORTS,
      api,
      checkout: portOf('PAYMESH_CHECKOUT_PORT', DEVELOPMENT_PORTS.checkout),
      admin: portOf('PAYMESH_ADMIN_PORT', DEVELOPMENT_PORTS.admin),
    }
    return { dataDir: values.data, processes: values.processes, scale, networks, ports }
  } catch (error) {
    return { text: `${errorText(error)}\n\n${HELP}`, status: 2 }
  }
}

/** The port in a setting; links use it, or the free one that replaces it when it is in use. */
function portOf(setting: string, fallback: number): number {
  const text = process.env[setting] || String(fallback)
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new Error(`${setting} takes 0 to 65535, not ${text}`)
  return Number(text)
}

function networksOf(list: string): readonly NetworkId[] {
  if (list === 'all') return NETWORK_IDS
  return list.split(',').map((name) => {
    const network = NETWORK_IDS.find((id) => id === name.trim())
    if (network === undefined) throw new Error(`--chains takes all or some of ${NETWORK_IDS.join(', ')}, not ${name}`)
    return network
  })
}

/** `npm start`: everything at once, until Ctrl-C or SIGTERM. Exits with 1 and a plain text when it cannot start. */
export async function runStart(args: readonly string[]): Promise<void> {
  const options = readArgs(args)
  if ('text' in options) {
    process.stdout.write(options.text)
    process.exit(options.status)
  }
  const startedAt = performance.now()
  const signals = catchSignals()
  process.stdout.write('Paymesh is starting …\n')
  try {
    const { MONGO_URL, REDIS_URL, ...given } = givenSettings(process.env)
    const env = Object.fromEntries(Object.entries(given).filter(([name]) => !CHOSEN_PORTS.includes(name)))
    const stack = await startStack({
      ...options,
      env,
      mongoUrl: MONGO_URL ?? null,
      redisUrl: REDIS_URL ?? null,
      report: (line) => void process.stdout.write(`  ${line}\n`),
    })
    signals.stopWith(stack)
    const seconds = (performance.now() - startedAt) / 1_000
    process.stdout.write(
      summary(stack.dev, { dataDir: relative('', options.dataDir) || '.', logFile: stack.logFile, seconds }),
    )
  } catch (error) {
    process.stderr.write(`\nPaymesh could not start.\n${explain(error)}\n`)
    process.exit(1)
  }
}

/** Our own errors state the remedy; for unexpected ones the stack matters as well. */
function explain(error: unknown): string {
  const foreseen = error instanceof ConfigError || (error instanceof Error && error.name === 'Error')
  return foreseen || !(error instanceof Error) ? errorText(error) : (error.stack ?? error.message)
}

/**
 * The first signal ends a running stack in order. While it is still starting, or on a second signal, the process exits at once and the
 * guards end what was started.
 */
function catchSignals(): { stopWith(stack: Stack): void } {
  let stack: Stack | undefined
  let requestedAt: number | null = null
  const stop = (running: Stack) => {
    process.stdout.write('\nstopping …\n')
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${errorText(error)}\n`)
        process.exit(1)
      },
    )
  }
  const onSignal = () => {
    // Ctrl-C under npm arrives twice: from the terminal, and forwarded by npm.
    if (requestedAt !== null && performance.now() - requestedAt < ECHO_MS) return
    if (requestedAt !== null || stack === undefined) process.exit(130)
    requestedAt = performance.now()
    stop(stack)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  return {
    stopWith: (running) => {
      stack = running
    },
  }
}

interface SummaryFacts {
  readonly dataDir: string
  readonly logFile: string
  readonly seconds: number
}

/** Summary for a person when everything runs: addresses, keys and a first request to paste. */
function summary(dev: DevInfo, { dataDir, logFile, seconds }: SummaryFacts): string {
  const processes = dev.pids === null ? 'one process' : `${Object.keys(dev.pids).length} processes`
  const rows = [
    ['API', dev.apiUrl],
    ['Dashboard', dev.adminUrl ?? ''],
    ['  log in', `${dev.ownerEmail ?? ''}  ${dev.ownerPassword ?? 'with your password'}`],
    ['Checkout', dev.checkoutUrl],
    ['Test key', dev.testKey],
    ['Live key', dev.liveKey],
    ...(dev.mailUrl === null ? [] : [['Mailbox', dev.mailUrl]]),
    ['Metrics', dev.metricsUrl],
    ...Object.entries(dev.rpcUrls).map(([network, url], index) => [
      index === 0 ? 'Local chains' : '',
      `${network.padEnd(9)} ${url}`,
    ]),
    ['MongoDB', dev.mongoUrl],
    ['Redis', dev.redisUrl ?? 'none: wake-ups stay in memory'],
    ['Log', logFile],
    ['All of this', `${dataDir}/dev.json`],
  ]
  const table = rows.map(([label = '', value = '']) => `  ${label.padEnd(12)} ${value}`).join('\n')
  return `
Paymesh runs (${processes}, up in ${seconds.toFixed(1)} s)

${table}

Create an invoice for 25 US dollars in USDT on the local Ethereum chain:

  curl -s ${dev.apiUrl}/invoices \\
    -H 'Authorization: Bearer ${dev.testKey}' \\
    -H 'Content-Type: application/json' \\
    -d '{"amount":"25.00","currency":"USD","asset":"usdt_ethereum"}'

Pay it with  npm run cli -- pay INVOICE_ID  · Ctrl-C stops everything, data stays.
`
}
