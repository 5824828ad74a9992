/** One value for each of two sources that share nothing. */
export type Sources<T> = { readonly one: T; readonly other: T }

/** Takes a scarce thing as one of two sources. */
export interface Probe {
  /** How many one source gets before it is refused. */
  readonly budget: number
  /** True when the source got one more; false when it was refused, or has to wait. */
  readonly take: (who: keyof Sources<unknown>) => Promise<boolean>
  /** Ends what was left open. */
  readonly end?: () => Promise<void>
}
