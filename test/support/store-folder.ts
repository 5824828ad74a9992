import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps files of this folder in memory (tmpfs(5)). */
const IN_MEMORY = '/dev/shm'
/** Bytes: the stores of a run take less than two. */
const ROOM = 4 * 1024 ** 3

/**
 * Makes a folder for the stores of one run, which ends with the run: in memory where there is room for it, otherwise on disk. Each commit
 * of a store then waits less, and no test turns off the machine.
 *
 * @param prefix What its name begins with.
 */
export function makeStoreFolder(prefix: string): string {
  return mkdtempSync(join(hasRoom() ? IN_MEMORY : tmpdir(), prefix))
}

function hasRoom(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize > ROOM && freemem() > 2 * ROOM
  } catch {
    return false
  }
}
