import { execFile } from 'node:child_process'
import { runCli } from '#scripts/cli/main.ts'

/** What a command wrote, and the status that its process would end with. */
export interface CommandResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Commands of one worker run one after the other: they share its arguments and streams. */
let latest: Promise<unknown> = Promise.resolve()

/**
 * Runs a command line in this process, which costs a fraction of a process for each command. `env` is added to the environment for its
 * time. What the launcher does is tested by `runCommandProcess`.
 */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const result = latest.then(() => capture(args, env))
  latest = result.catch(() => undefined)
  return result
}

/** Runs a command line as people do, in a process that `scripts/paymesh.mjs` starts. */
export function runCommandProcess(args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['scripts/paymesh.mjs', ...args], (error, stdout, stderr) => {
      const status = error === null ? 0 : error.code
      if (typeof status === 'number') resolve({ status, stdout, stderr })
      else reject(error ?? new Error('the process had no status'))
    })
  })
}

async function capture(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  const said = { stdout: '', stderr: '' }
  const { argv, exitCode } = process
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const)
  const writers = { stdout: process.stdout.write, stderr: process.stderr.write }
  for (const stream of ['stdout', 'stderr'] as const) {
    process[stream].write = (text: string | Uint8Array) => {
      said[stream] += typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
      return true
    }
  }
  process.argv = [process.execPath, 'scripts/paymesh.mjs', ...args]
  process.exitCode = 0
  Object.assign(process.env, env)
  try {
    return { status: await runCli(args), ...said }
  } finally {
    process.argv = argv
    process.exitCode = exitCode
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    for (const stream of ['stdout', 'stderr'] as const) process[stream].write = writers[stream]
  }
}
