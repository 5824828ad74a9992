import { writeFileSync } from 'node:fs'
import { bundleSimulation } from './bundle.ts'
import { keptSeeds } from './kept-seeds.ts'
import type { Mutant } from './mutants/mutant.ts'
import { startSeedThread } from './seed-pool.ts'

/** What share of the planted bugs must be found. */
const SHARE = 0.95

interface Verdict {
  readonly mutant: Mutant
  /** How many seeds it took; null when none noticed. */
  readonly seeds: number | null
  readonly by: string
}

interface MutantOptions {
  /** A file for the table in Markdown. */
  readonly report: string | undefined
  readonly jobs: number
  /** Seeds that may pass before a mutant counts as alive. */
  readonly cap: number
  readonly out: (text: string) => void
}

/** Plants each bug by itself, runs seeds until one notices, and prints a table. True when at least 95 % were noticed. */
export async function runMutants(
  mutants: readonly Mutant[],
  { jobs, cap, out, report }: MutantOptions,
): Promise<boolean> {
  const left = [...mutants]
  const verdicts: Verdict[] = []
  const next = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const verdict = await evaluate(mutant, cap)
      verdicts.push(verdict)
      out(row(verdict))
    }
  }
  await Promise.all(Array.from({ length: jobs }, next))
  const killed = verdicts.filter(({ seeds }) => seeds !== null)
  const counts = killed.map(({ seeds }) => seeds ?? 0).sort((a, b) => a - b)
  const median = counts[Math.floor(counts.length / 2)] ?? 0
  out(`\n${killed.length} of ${verdicts.length} planted bugs found, median after ${median} seeds.\n`)
  for (const { mutant } of verdicts.filter(({ seeds }) => seeds === null))
    out(`not found: ${mutant.name}: ${mutant.what}\n`)
  if (report !== undefined) writeFileSync(report, renderTable(mutants, verdicts, { cap, median }))
  return killed.length >= Math.ceil(verdicts.length * SHARE)
}

async function evaluate(mutant: Mutant, cap: number): Promise<Verdict> {
  const thread = startSeedThread(await bundleSimulation(mutant))
  try {
    const kept = keptSeeds().map(({ seed }) => seed)
    const seeds = [...(mutant.seed === undefined ? [] : [mutant.seed]), ...numbered(cap), ...kept]
    for (const [index, seed] of seeds.slice(0, cap).entries()) {
      const by = await violationOf(thread, seed)
      if (by !== null) return { mutant, seeds: index + 1, by: `${by} (seed ${seed})` }
    }
    return { mutant, seeds: null, by: '' }
  } finally {
    await thread.stop()
  }
}

async function violationOf(thread: ReturnType<typeof startSeedThread>, seed: string): Promise<string | null> {
  try {
    const { violation } = await thread.run({ seed })
    return violation?.invariant ?? null
  } catch {
    return 'its thread died'
  }
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1))

function row({ mutant, seeds, by }: Verdict): string {
  const found = seeds === null ? 'ALIVE' : `${seeds} seed${seeds === 1 ? '' : 's'}`
  return `${mutant.name.padEnd(36)} ${found.padStart(10)}  ${by}\n`
}

function renderTable(
  mutants: readonly Mutant[],
  verdicts: readonly Verdict[],
  { cap, median }: { readonly cap: number; readonly median: number },
): string {
  const rows = mutants.flatMap((mutant) => {
    const verdict = verdicts.find((one) => one.mutant === mutant)
    if (verdict === undefined) return []
    const found = verdict.seeds === null ? `**not in ${cap}**` : String(verdict.seeds)
    return [`| ${mutant.name} | ${mutant.what} | ${found} | ${verdict.by} |`]
  })
  const killed = verdicts.filter(({ seeds }) => seeds !== null).length
  return [
    '# Planted bugs and what found them',
    '',
    'Each bug is planted by itself into the product and seeds run until a guarantee breaks (`npm run simulate -- --mutants --report FILE`).',
    `Found: ${killed} of ${verdicts.length}, half of them within ${median} seed${median === 1 ? '' : 's'}; at most ${cap} seeds each.`,
    '',
    '| bug | what it does | seeds | broken guarantee |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
