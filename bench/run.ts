import { parseArgs } from 'node:util'
import { benchCreateInvoice } from './create-invoice.ts'

/** Benchmarks by name: `npm run bench -- <name> [--seconds N] [--rounds N]`. */
const BENCHMARKS = { 'create-invoice': benchCreateInvoice }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '5' } },
})
const name = (Object.keys(BENCHMARKS) as (keyof typeof BENCHMARKS)[]).find((known) => known === positionals[0])
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
if (name === undefined || !(seconds > 0) || !Number.isInteger(rounds) || rounds < 1) {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(BENCHMARKS).join('|')} [--seconds N] [--rounds N]\n`)
  process.exit(2)
}
await BENCHMARKS[name]({ seconds, rounds, print: (line) => void process.stdout.write(`${line}\n`) })
