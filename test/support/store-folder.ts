import { accessSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps files of this folder in memory (tmpfs(5)). */
const IN_MEMORY = '/dev/shm'
/** Free bytes in that folder below which stores lie on disk; twice as much memory must be available. */
const ROOM = 4 * 1024 ** 3

/**
 * Makes a folder for the stores of this process: in memory where there is room for it, otherwise on disk. Each commit of a store then
 * waits less, and no test turns off the machine. Folders in memory whose process was killed before it removed them go first.
 *
 * @param kind What its name begins with; the id of this process follows.
 */
export function makeStoreFolder(kind: string): string {
  const parent = hasRoom() ? IN_MEMORY : tmpdir()
  if (parent === IN_MEMORY) removeAbandoned(parent, kind)
  return mkdtempSync(join(parent, `${kind}-${process.pid}-`))
}

/** Removes folders of `makeStoreFolder` whose process has ended. Those of other users stay: they may not be removed. */
export function removeAbandoned(parent: string, kind: string, user = process.getuid?.()): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(`${kind}-`)) continue
    const owner = /^(\d+)-/.exec(name.slice(kind.length + 1))?.[1]
    const path = join(parent, name)
    const isOurs = statSync(path, { throwIfNoEntry: false })?.uid === user
    if (isOurs && owner !== undefined && !isRunning(Number(owner))) rmSync(path, { recursive: true, force: true })
  }
}

/** Also for a process of another user: it exists, but gets no signal from us (kill(2), EPERM). */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function hasRoom(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize > ROOM && process.availableMemory() > 2 * ROOM
  } catch {
    return false
  }
}
