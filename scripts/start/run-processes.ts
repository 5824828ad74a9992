import { openSync } from 'node:fs'
import { bundled } from '#scripts/bundle.mjs'
import { freePort } from '#scripts/embedded/free-port.ts'
import type { Environment } from './environment.ts'
import { readProcfile } from './procfile.ts'
import type { Runner } from './runner.ts'
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts'

export interface ProcessesOptions {
  readonly environment: Environment
  readonly logFile: string
  readonly metricsPort: number
  readonly keepAlive: boolean
  readonly report: (line: string) => void
  /** Called when a process id has changed. */
  readonly changed: () => void
}

/** Runs one process per line of the Procfile. Resolves when all of them are ready; on failure none is left. */
export async function runProcesses(options: ProcessesOptions): Promise<Runner> {
  await bundled('scripts/service/main.ts', options.report)
  const log = openSync(options.logFile, 'a')
  const running = new Map<string, SupervisedProcess>()
  const stop = async () => {
    await Promise.all([...running.values()].map((each) => each.stop()))
  }
  const named = (name: string): SupervisedProcess => {
    const found = running.get(name)
    if (found === undefined) throw new Error(`no process ${name}; there are ${[...running.keys()].join(', ')}`)
    return found
  }
  try {
    for (const [index, line] of readProcfile().entries()) {
      const preferred = options.metricsPort === 0 ? 0 : options.metricsPort + index
      const metricsPort = await freePort(preferred)
      running.set(line.name, await superviseProcess({ ...options, line, metricsPort, log }))
    }
    await Promise.all([...running.values()].map((each) => each.ready()))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    metricsUrl: named('api').metricsUrl,
    pids: () =>
      Object.fromEntries(
        [...running].flatMap(([name, each]) => (each.pid() === null ? [] : [[name, each.pid() ?? 0]])),
      ),
    pidOf: (name) => {
      const pid = named(name).pid()
      if (pid === null) throw new Error(`${name} is not running`)
      return pid
    },
    kill: (name, signal) => named(name).kill(signal),
    restart: (name) => named(name).restart(),
    stop,
  }
}
