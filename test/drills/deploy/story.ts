import type { Surroundings } from '#scripts/start/stack.ts'
import type { Check } from '../checks.ts'
import type { Installation, InstallationOptions } from './installation.ts'

/** What a form of deployment is drilled with. */
export interface Story {
  readonly form: 'one-process' | 'process-per-type'
  readonly dir: string
  /** The release that is installed, and the one before it. */
  readonly commit: string
  readonly earlier: string
  /** The chain's node and the exchanges, on this machine. */
  readonly around: Pick<Surroundings, 'nodes' | 'rateSourceUrls'>
  readonly mailUrl: string
  /** Opens a machine; it is ended with the drill. */
  open(options: Pick<InstallationOptions, 'name'> & { readonly commit?: string }): Promise<Installation>
  readonly undo: (() => Promise<unknown> | unknown)[]
  say(line: string): void
  /** Prints a check as soon as it was made, and keeps it. */
  enter(check: Check): void
}

/** Runs a check whose faults are what it returns; a throw is one of them. */
export async function check(
  { enter }: Pick<Story, 'enter'>,
  promise: string,
  look: () => Promise<{ readonly checked: number; readonly faults: readonly string[] }>,
): Promise<boolean> {
  try {
    const found = { promise, ...(await look()) }
    enter(found)
    return found.faults.length === 0
  } catch (error) {
    enter({ promise, checked: 1, faults: [error instanceof Error ? error.message : String(error)] })
    return false
  }
}
