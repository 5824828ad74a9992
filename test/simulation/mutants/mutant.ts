/** A bug that is planted to see whether the simulation finds it. */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Text that is in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** What the bug does, in one sentence. */
  readonly what: string
  /** A seed that finds it, tried first; absent where one of the first few does. */
  readonly seed?: string
}
