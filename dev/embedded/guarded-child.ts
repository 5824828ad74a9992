import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Waits on a pipe from the parent. When the parent ends in any way, SIGKILL included, the pipe closes without the word `done` and the
 * guard ends the child and what it started in its process group: with SIGTERM first, by force after five seconds.
 */
const GUARD_SCRIPT = `trap '' INT TERM HUP
read word
[ "$word" = done ] && exit 0
kill -CONT "-$1" 2>/dev/null; kill -TERM "-$1" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "-$1" 2>/dev/null || exit 0; sleep 0.5; done
kill -KILL "-$1" 2>/dev/null`

/** A process that never outlives the one that started it, and leaves none of its process group behind. */
export type GuardedChild = ReturnType<typeof wrap>

/**
 * Starts a program in a separate process group, so that Ctrl-C in a terminal reaches only the parent, which ends it in order,
 * with a guard that ends it when the parent is killed. Rejects when the program cannot be started.
 */
export async function startGuarded(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'stdio'>,
): Promise<GuardedChild> {
  const child = spawn(command, args, { ...options, detached: true })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${command} did not start`)
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => {})
  guard.stdin.on('error', () => {})
  return wrap(child, pid, () => guard.stdin.end('done\n'))
}

function wrap(child: ChildProcess, pid: number, release: () => void) {
  let ended = false
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = true
      signalGroup(pid, 'SIGKILL')
      release()
      resolve({ code, signal })
    })
  })
  return {
    pid,
    /** The pipes that `stdio` asked for. */
    stdout: child.stdout,
    stderr: child.stderr,
    /** Resolves when the process has ended, with its exit code or the signal that ended it. */
    exited,
    hasExited: () => ended,
    /** The first result of `probe` other than null; null when the process ends before, or gives none within `withinMs`. A rejection means "not yet". */
    async until<T>(probe: () => Promise<T | null>, withinMs: number, everyMs = 20): Promise<T | null> {
      for (const end = Date.now() + withinMs; Date.now() < end && !ended; await delay(everyMs)) {
        const found = await probe().catch(() => null)
        if (found !== null && !ended) return found
      }
      return null
    },
    /** Sends a signal to the process alone; false when it has ended. */
    kill: (signal: NodeJS.Signals) => !ended && child.kill(signal),
    /** SIGTERM to its process group, and SIGKILL when the process still runs after `graceMs`. Resolves when it has ended. */
    async stop(graceMs: number) {
      if (ended) return
      // A stopped process handles SIGTERM only after SIGCONT.
      signalGroup(pid, 'SIGCONT')
      signalGroup(pid, 'SIGTERM')
      const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs)
      await exited
      clearTimeout(timer)
    },
  }
}

/** Signals every process of the group; one that is gone has nobody left to signal. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The last of the group has ended.
  }
}
