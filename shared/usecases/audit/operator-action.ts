import type { Mode } from '#shared/domain/enumerations.ts'

/** Who acts, under which id, and why: repeating an action under its id changes nothing. */
export interface OperatorAction {
  readonly opId: string
  /** Actor as named in the audit log. */
  readonly actor: string
  readonly reason: string | null
}

/** An action on something of a workspace and mode. */
export interface WorkspaceAction extends OperatorAction {
  readonly workspaceId: string
  readonly mode: Mode
}
