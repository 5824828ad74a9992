/** Who does it, under which name, and why. */
export interface Deed {
  readonly opId: string
  /** As the audit trail names them. */
  readonly actor: string
  readonly reason: string | null
}
