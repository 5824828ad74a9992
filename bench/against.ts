import { spawnSync } from 'node:child_process'
import type { BenchOptions } from './options.ts'
import { medianAndRange } from './statistics.ts'

/** Figures of the same benchmark in another checkout, round after round. */
export interface OtherCheckout {
  /** Runs one round there, on separate stores, and prints its lines. Throws with the end of its errors when it fails. */
  runRound(round: number): void
  /** Prints the median and range of each of its figures over all rounds. */
  report(): void
}

/** A summary line, `from due rows: 2516 (1887 to 3134)/s`: its name, and the medians in it. */
const SUMMARY = /^(?! )(?<name>[^:]+): (?<rest>.*\d.*)$/
const MEDIAN = /(?<before>[^\d]*)(?<median>\d+(?:\.(?<digits>\d+))?) \([\d.]+ to [\d.]+\)/g

/** `folder` is a checkout with installed dependencies; its own benchmark code measures. */
export function otherCheckout(folder: string, benchmark: string, options: BenchOptions): OtherCheckout {
  const lines = new Map<string, number[][]>()
  const templates = new Map<string, string>()
  return {
    runRound: (round) => {
      const only = options.only === null ? [] : ['--only', options.only]
      const args = [benchmark, '--rounds', '1', '--seconds', String(options.seconds), ...only]
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--import', 'tsx', 'bench/run.ts', ...args, ...(options.asset ? ['--asset'] : [])],
        { cwd: folder, encoding: 'utf8' },
      )
      if (status !== 0)
        throw new Error(`the benchmark of ${folder} failed: ${stderr.trimEnd().split('\n').slice(-5).join('\n')}`)
      for (const line of stdout.split('\n')) {
        if (line.startsWith('  round 1: ')) options.print(line.replace('  round 1: ', `  round ${round}, against: `))
        const { name, rest } = SUMMARY.exec(line)?.groups ?? {}
        if (name === undefined || rest === undefined) continue
        const medians = [...rest.matchAll(MEDIAN)].map(({ groups }) => Number(groups?.['median']))
        if (medians.length === 0) continue
        templates.set(name, rest)
        lines.set(name, [...(lines.get(name) ?? []), medians])
      }
    },
    report: () => {
      for (const [name, rounds] of lines)
        options.print(`against: ${name}: ${summaryOf(templates.get(name) ?? '', rounds)}`)
    },
  }
}

/** The line again, with the median and range over all rounds in place of each figure. */
export function summaryOf(template: string, rounds: readonly (readonly number[])[]): string {
  let place = -1
  return template.replaceAll(MEDIAN, (_match, before: string, _median: string, digits: string | undefined) => {
    place += 1
    return `${before}${medianAndRange(
      rounds.map((figures) => figures[place] ?? Number.NaN),
      digits?.length ?? 0,
    )}`
  })
}
