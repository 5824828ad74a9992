import { parseArgs } from 'node:util'
import type { BenchOptions } from './options.ts'

interface Benchmark {
  readonly is: string
  run(options: BenchOptions): Promise<void>
}

/** Benchmarks by name, each against a bare baseline in the same run; its code is read when it runs. */
const BENCHMARKS = {
  'create-invoice': {
    run: async (options) => (await import('./create-invoice.ts')).benchCreateInvoice(options),
    is: 'POST /invoices against node:http with one native insert',
  },
  deliveries: {
    run: async (options) => (await import('./deliveries.ts')).benchDeliveries(options),
    is: 'webhooks per second and their delay, against a bare loop of POSTs',
  },
  isolation: {
    run: async (options) => (await import('./isolation.ts')).benchIsolation(options),
    is: 'what receivers that hang or are slow cost the others, with one and three processes',
  },
  scale: {
    run: async (options) => (await import('./scale.ts')).benchScale(options),
    is: 'webhooks and invoices with one, two and four processes: the table of docs/scaling.md',
  },
  growth: {
    run: async (options) => (await import('./growth.ts')).benchGrowth(options),
    is: 'rows examined by every query of the product after two years, compared with one per cent of the data',
  },
  pages: {
    run: async (options) => (await import('./pages.ts')).benchPages(options),
    is: 'loads of pages in Chromium, on a fast line and as on a slow phone',
  },
  backup: {
    run: async (options) => (await import('./back-up.ts')).benchBackUp(options),
    is: 'duration, size and memory of a back-up beside changes, and of its restore',
  },
  idle: {
    run: async (options) => (await import('./idle.ts')).benchIdle(options),
    is: 'memory and CPU without any request: everything in one process beside one process per line of the Procfile',
  },
  scan: {
    run: async (options) => (await import('./scan.ts')).benchScan(options),
    is: 'a million watches on one chain, against a loop that only reads and matches',
  },
  watches: {
    run: async (options) => (await import('./watches.ts')).benchWatches(options),
    is: 'start and memory of a scanner with many old and 100,000 hot addresses',
  },
  mempool: {
    run: async (options) => (await import('./mempool.ts')).benchMempool(options),
    is: 'how long polls of a mempool of 300,000 entries block the event loop',
  },
  'rpc-cost': {
    run: async (options) => (await import('./rpc-cost.ts')).benchRpcCost(options),
    is: 'calls and provider units of a month on five EVM networks, thrifty and full, on a virtual clock',
  },
} as const satisfies Readonly<Record<string, Benchmark>>

const USAGE = `usage: npm run bench -- <name> [options]

${Object.entries(BENCHMARKS)
  .map(([name, { is }]) => `  ${name.padEnd(16)} ${is}`)
  .join('\n')}

  --asset          invoices are locked to an asset at creation
  --seconds <n>    length of one measurement (4)
  --rounds <n>     interleaved measurements of each side, of which the median counts (5)
  --only <part>    of deliveries: due, whole, lone or paced; of isolation: 1 or 3 (processes); of scale: webhooks, relay or api;
                   of idle: serve or processes; of watches: packs; of rpc-cost: invoices a day (0, 20 and 200)
  --serve          of deliveries: alternates with everything in one process (paymesh serve)
  --floor          of deliveries: alternates with the same commands and nothing else, the least that the design needs here
  --against <dir>  of deliveries: alternates with another checkout, whose own benchmark measures it
  --invoices <n>   of growth and backup: invoices in the seeded database (10000); of watches: old addresses
  --profile <dir>  writes CPU profiles of the product's processes there; the ratios mean nothing then
MONGO_URL and REDIS_URL name running stores; without them the benchmark starts its own.
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    asset: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    invoices: { type: 'string', default: '10000' },
    profile: { type: 'string' },
    against: { type: 'string' },
    serve: { type: 'boolean', default: false },
    floor: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const name = (Object.keys(BENCHMARKS) as (keyof typeof BENCHMARKS)[]).find((known) => known === positionals[0])
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const invoices = Number(values.invoices)
if (values.help) {
  process.stdout.write(USAGE)
} else if (name === undefined || !(seconds > 0) || !Number.isInteger(rounds) || rounds < 1 || !(invoices >= 1_000)) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const { asset, only = null, profile: profileDir = null, against = null } = values
  await BENCHMARKS[name].run({
    seconds,
    rounds,
    asset,
    only,
    profileDir,
    against,
    isServe: values.serve,
    hasFloor: values.floor,
    invoices,
    print,
  })
}
