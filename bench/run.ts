import { parseArgs } from 'node:util'
import { benchCreateInvoice } from './create-invoice.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchGetInvoice } from './get-invoice.ts'
import { benchIsolation } from './isolation.ts'
import { benchListInvoices } from './list-invoices.ts'
import { benchOutages } from './outages.ts'
import { benchScale } from './scale.ts'
import { benchScan } from './scan.ts'

/** Benchmarks by name, each against a bare baseline in the same run. */
const BENCHMARKS = {
  'create-invoice': { run: benchCreateInvoice, is: 'POST /invoices against node:http with one native insert' },
  'get-invoice': { run: benchGetInvoice, is: 'GET /invoices/{id} against node:http with one native findOne' },
  'list-invoices': {
    run: benchListInvoices,
    is: 'GET /invoices, a page of 20, against node:http with one native find',
  },
  deliveries: {
    run: benchDeliveries,
    is: 'webhooks per second and their delay, against a bare loop of POSTs',
  },
  isolation: { run: benchIsolation, is: 'what receivers that hang, drip or pour do to the delay at the others' },
  outages: { run: benchOutages, is: 'how webhooks go on after kill -9 of the dispatcher and without Redis' },
  scale: {
    run: benchScale,
    is: 'webhooks and invoices with one, two and four processes: the table of docs/scaling.md',
  },
  scan: {
    run: benchScan,
    is: 'a million watches on one chain, against a loop that only reads and matches',
  },
} as const

const USAGE = `usage: npm run bench -- <name> [options]

${Object.entries(BENCHMARKS)
  .map(([name, { is }]) => `  ${name.padEnd(16)} ${is}`)
  .join('\n')}

  --asset          invoices are locked to an asset at creation
  --seconds <n>    length of one measurement (4)
  --rounds <n>     interleaved measurements of each side, of which the median counts (5)
  --only <part>    of deliveries: due, whole or paced; of scale: webhooks or api
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
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const name = (Object.keys(BENCHMARKS) as (keyof typeof BENCHMARKS)[]).find((known) => known === positionals[0])
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
if (values.help) {
  process.stdout.write(USAGE)
} else if (name === undefined || !(seconds > 0) || !Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const { asset, only = null, profile: profileDir = null } = values
  await BENCHMARKS[name].run({
    seconds,
    rounds,
    asset,
    only,
    profileDir,
    print,
  })
}
