import { describeFault, type Fault } from './fault-deck.ts'
import type { Verdict } from './verdict.ts'

export interface RunFacts {
  readonly seed: string
  readonly injected: readonly Fault[]
  readonly verdict: Verdict
  /** Milliseconds from the first attempt of a create to its final response. */
  readonly waits: readonly number[]
  /** Time from the end of the faults until all work was done. */
  readonly quietMs: number
  readonly tookMs: number
}

const SHOWN = 20

/** The run on one page of Markdown. */
export function renderReport({ seed, injected, verdict, waits, quietMs, tookMs }: RunFacts): string {
  const { counts, breaches, duplicateShare } = verdict
  const kinds = new Map<string, number>()
  for (const fault of injected) {
    const name = fault.kind === 'link' ? `link ${fault.link}: ${fault.fault.kind}` : describeKind(fault)
    kinds.set(name, (kinds.get(name) ?? 0) + 1)
  }
  return [
    `# Chaos run, seed ${seed}`,
    '',
    `${injected.length} faults in ${(tookMs / 60_000).toFixed(1)} minutes; quiet ${(quietMs / 1_000).toFixed(0)} s after the last one.`,
    `Create to definitive answer: p50 ${quantile(waits, 0.5)} ms, p95 ${quantile(waits, 0.95)} ms, longest ${quantile(waits, 1)} ms.`,
    `Duplicates: ${(duplicateShare * 100).toFixed(2)} % of the deliveries.`,
    '',
    '| what | count |',
    '|---|---|',
    ...Object.entries(counts).map(([name, value]) => `| ${name} | ${value} |`),
    '',
    '| promise | kept |',
    '|---|---|',
    ...Object.entries(breaches).map(
      ([name, lines]) => `| ${name} | ${lines.length === 0 ? 'yes' : `**no, ${lines.length} times**`} |`,
    ),
    ...Object.entries(breaches).flatMap(([name, lines]) => details(name, lines)),
    '',
    '| fault | times |',
    '|---|---|',
    ...[...kinds].sort().map(([name, times]) => `| ${name} | ${times} |`),
  ].join('\n')
}

function describeKind(fault: Fault): string {
  return fault.kind === 'freeze' ? `stop ${fault.process}` : describeFault(fault)
}

function details(name: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return []
  const rest = lines.length > SHOWN ? [`- and ${lines.length - SHOWN} more`] : []
  return ['', `Broken: ${name}`, '', ...lines.slice(0, SHOWN).map((line) => `- ${line}`), ...rest]
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
}
