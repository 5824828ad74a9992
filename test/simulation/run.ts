import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { bundleSimulation } from './bundle.ts'
import { createCoverage } from './coverage.ts'
import { keptSeeds } from './kept-seeds.ts'
import { MUTANTS } from './mutants.ts'
import { createReplays } from './replays.ts'
import { runMutants } from './run-mutants.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './seed-pool.ts'

const HELP = `npm run simulate -- [options]
  --seeds N      run seeds FROM … FROM+N−1 (default 200)
  --from K       first seed (default 1)
  --seed S       run this seed only, twice, and compare the traces
  --trace        with --seed: print every event
  --clear        no faults at all
  --jobs J       threads (default: one per core)
  --mutants      plant each known bug and run seeds until one notices
  --mutant A,B   the same for these
  --cap N        seeds per mutant (default 900)
  --report FILE  write the table of the mutants there, in Markdown
`
const YEAR_MS = 365.25 * 86_400_000
/** So many seeds meet every fault and every guarantee; fewer may not. */
const COVERED_FROM = 1_000

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    clear: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(availableParallelism()) },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    cap: { type: 'string', default: '900' },
    report: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const out = (text: string): void => void process.stdout.write(text)
const jobs = Number(values.jobs)

async function main(): Promise<boolean> {
  if (values.help) {
    out(HELP)
    return true
  }
  if (values.mutants || values.mutant !== undefined) {
    const chosen = MUTANTS.filter(({ name }) => values.mutant === undefined || values.mutant.split(',').includes(name))
    return runMutants(chosen, { jobs, cap: Number(values.cap), out, report: values.report })
  }
  const bundle = await bundleSimulation()
  return values.seed === undefined ? runMany(bundle) : runOne(bundle, values.seed)
}

/** One seed twice: its trace must be the same, and its report is printed. */
async function runOne(bundle: string, seed: string): Promise<boolean> {
  const { clear, trace } = values
  const results: SeedResult[] = []
  const again = { seed, clear }
  await runSeeds(bundle, [{ ...again, trace }, again], 2, (result) => {
    if (result.lines.length > 0) out(`${result.lines.join('\n')}\n`)
    results.push(result)
    return true
  })
  const [first] = results
  if (first === undefined) return false
  report(first)
  const isSame = results.every(({ hash }) => hash === first.hash)
  if (!isSame) out(`NOT DETERMINISTIC: ${results.map(({ hash }) => hash.slice(0, 16)).join(' and ')}\n`)
  return isSame && first.violation === null
}

async function runMany(bundle: string): Promise<boolean> {
  const from = Number(values.from)
  const numbered = Array.from({ length: Number(values.seeds) }, (_, index) => String(from + index))
  const kept = keptSeeds().map(({ seed }) => seed)
  const seeds = [...new Set([...kept, ...numbered])].map((seed) => ({ seed, clear: values.clear }))
  const startedAt = performance.now()
  const bad: SeedResult[] = []
  const coverage = createCoverage()
  const replays = createReplays(seeds.map(({ seed }) => seed))
  let done = 0
  let virtualMs = 0
  let steps = 0
  const progress = (): void => {
    const seconds = (performance.now() - startedAt) / 1_000
    const left = ((seeds.length - done) * seconds) / Math.max(done, 1)
    const years = (virtualMs / YEAR_MS).toFixed(1)
    const line = `${done}/${seeds.length} seeds · ${(done / seconds).toFixed(1)}/s · ${years} years · ${coverage.faults} faults · ${bad.length} violations · ${left.toFixed(0)} s left`
    out(process.stdout.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
  }
  let shownAt = 0
  const again = replays.seeds.map((seed) => ({ seed, clear: values.clear }))
  await runSeeds(bundle, [...seeds, ...again], jobs, (result) => {
    if (replays.isAgain(result)) return true
    done += 1
    virtualMs += result.virtualMs
    steps += result.steps
    coverage.add(result)
    if (result.violation !== null) {
      bad.push(result)
      out('\n')
      report(result)
    }
    if (performance.now() - shownAt > (process.stdout.isTTY ? 200 : 10_000) || done === seeds.length) {
      shownAt = performance.now()
      progress()
    }
    return bad.length < 10
  })
  out(`\n${steps} events.\n${coverage.table()}`)
  const missing = seeds.length >= COVERED_FROM && !values.clear ? coverage.missing() : []
  if (missing.length > 0) out(`Never exercised: ${missing.join(', ')}.\n`)
  const differing = replays.differing()
  if (differing.length > 0) out(`NOT DETERMINISTIC: seeds ${differing.join(', ')}\n`)
  else out(`${replays.seeds.length} seeds played again to the same traces.\n`)
  out(bad.length === 0 ? 'No violation.\n' : `Violations in seeds ${bad.map(({ seed }) => seed).join(', ')}.\n`)
  return bad.length === 0 && missing.length === 0 && differing.length === 0
}

function report({ seed, hash, steps, virtualMs, realMs, counts, violation }: SeedResult): void {
  const hours = (virtualMs / 3_600_000).toFixed(1)
  out(
    `seed ${seed}: ${steps} events, ${hours} h in ${realMs.toFixed(0)} ms, trace ${hash}\n${JSON.stringify(counts)}\n`,
  )
  if (violation === null) return
  out(`${violation.trace.join('\n')}\n\n${violation.message}\nat event ${violation.step}, ${violation.at}\n`)
  out(`Again: npm run simulate -- --seed ${seed}${values.clear ? ' --clear' : ''} --trace\n`)
}

process.exitCode = (await main()) ? 0 : 1
