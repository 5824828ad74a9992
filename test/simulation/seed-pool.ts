import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { SeedResult } from './run-seed.ts'
import type { SeedQuestion } from './seed-worker.ts'

/** One thread that runs one seed at a time. */
export interface SeedThread {
  run(question: SeedQuestion): Promise<SeedResult>
  stop(): Promise<void>
}

/** Starts a thread on a bundle of {@link bundleSimulation}. A thread that dies fails the seed it was at. */
export function startSeedThread(bundle: string): SeedThread {
  const worker = new Worker(fileURLToPath(bundle), {
    execArgv: ['--enable-source-maps'],
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  })
  return {
    run: (question) =>
      new Promise((resolve, reject) => {
        const onMessage = (result: SeedResult): void => {
          worker.off('error', onError)
          resolve(result)
        }
        const onError = (error: unknown): void => {
          worker.off('message', onMessage)
          reject(new Error(`seed ${question.seed} took its thread down`, { cause: error }))
        }
        worker.once('message', onMessage)
        worker.once('error', onError)
        worker.postMessage(question)
      }),
    stop: async () => {
      await worker.terminate()
    },
  }
}

/** Runs seeds on `jobs` threads in their order and tells of each result; `onResult` returns false to end early. */
export async function runSeeds(
  bundle: string,
  questions: readonly SeedQuestion[],
  jobs: number,
  onResult: (result: SeedResult) => boolean,
): Promise<void> {
  const left = [...questions]
  let goesOn = true
  const thread = async (): Promise<void> => {
    const seeds = startSeedThread(bundle)
    try {
      for (let next = left.shift(); next !== undefined && goesOn; next = left.shift()) {
        if (!onResult(await seeds.run(next))) goesOn = false
      }
    } finally {
      await seeds.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, questions.length)) }, thread))
}
