import { parentPort } from 'node:worker_threads'
import { runSeed } from './run-seed.ts'

/** What a worker is asked: one seed. It answers each with its result, in order. */
export interface SeedQuestion {
  readonly seed: string
  readonly clear?: boolean
  /** Print every line of the trace. */
  readonly trace?: boolean
}

parentPort?.on('message', ({ seed, clear = false, trace = false }: SeedQuestion) => {
  const lines: string[] = []
  const echo = trace ? { echo: (line: string) => void lines.push(line) } : {}
  void runSeed({ seed, clear, ...echo }).then((result) => parentPort?.postMessage({ ...result, lines }))
})
