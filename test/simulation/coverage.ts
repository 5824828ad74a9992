import type { SeedResult } from './run-seed.ts'

const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)

/** F11 is what payers do in every seed, not a fault that is dealt out. */
const FAULTS = numbered('F', 18).filter((name) => name !== 'F11')
const GUARANTEES = [...numbered('S', 16), ...numbered('L', 4)]

/** What a run of many seeds met: how often each fault came and each guarantee was asked. */
export interface Coverage {
  add(result: SeedResult): void
  readonly faults: number
  /** One line per fault and per guarantee. */
  table(): string
  /** Kinds of faults and guarantees that never came up. */
  missing(): readonly string[]
}

/** The coverage of no seed yet. */
export function createCoverage(): Coverage {
  const faults = new Map<string, number>()
  const evaluated = new Map<string, number>()
  const sum = (counts: ReadonlyMap<string, number>, wanted = ''): number =>
    [...counts].reduce((total, [name, times]) => (name.startsWith(wanted) ? total + times : total), 0)
  const lines = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }))
      .map(([name, times]) => `  ${name.padEnd(24)} ${times}\n`)
      .join('')
  return {
    add(result) {
      for (const [name, times] of Object.entries(result.faults)) faults.set(name, (faults.get(name) ?? 0) + times)
      for (const [name, times] of Object.entries(result.evaluated))
        evaluated.set(name, (evaluated.get(name) ?? 0) + times)
    },
    get faults() {
      return sum(faults)
    },
    table: () => `Faults dealt out:\n${lines(faults)}Guarantees asked:\n${lines(evaluated)}`,
    missing: () => [
      ...FAULTS.filter((kind) => sum(faults, `${kind} `) === 0),
      ...GUARANTEES.filter((name) => (evaluated.get(name) ?? 0) === 0),
    ],
  }
}
