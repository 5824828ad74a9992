/** Who acts, on which workspace, and why. */
export interface OperatorAction {
  readonly opId: string
  /** Actor as named in the audit log. */
  readonly actor: string
  readonly reason: string | null
}
