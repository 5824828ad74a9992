import { execFile } from 'node:child_process'
import { join } from 'node:path'

/** How one command line ended. */
export interface CommandOutcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** The command line of a release, on the installation of a data folder. */
export interface CommandLine {
  run(...args: readonly string[]): Promise<CommandOutcome>
  /** What it prints with `--json`. Throws with its output when the status is not 0. */
  json<T>(...args: readonly string[]): Promise<T>
}

/** The `paymesh` of a checkout. */
export function commandLineOf(folder: string, dataDir: string): CommandLine {
  const run = (...args: readonly string[]): Promise<CommandOutcome> =>
    new Promise((resolve) => {
      const script = join(folder, 'scripts/paymesh.mjs')
      const all = [script, ...args, ...(args.includes('--help') ? [] : ['--data', dataDir])]
      execFile(process.execPath, all, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        resolve({ status: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr })
      })
    })
  return {
    run,
    json: async <T>(...args: readonly string[]) => {
      const { status, stdout, stderr } = await run(...args, '--json')
      if (status !== 0) throw new Error(`paymesh ${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
      return JSON.parse(stdout) as T
    },
  }
}
