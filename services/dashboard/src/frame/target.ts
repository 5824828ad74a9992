import type { Mode } from '#shared/domain/enumerations.ts'
import type { Role } from '../session/roles.ts'

/** Target of the navigation: the workspace and mode of the URL, or the last ones on pages of the installation. */
export interface NavigationTarget {
  readonly workspaceId: string
  readonly mode: Mode
  readonly workspaceName: string
  readonly role: Role
}
