import { createContext, use } from 'react'
import { type Mode, type WorkspaceStatus, worksIn } from '#shared/domain/enumerations.ts'
import { mayDo, ROLE_LABELS, type Role } from './roles.ts'

/** The workspace and mode of the page, from its URL. */
export interface Place {
  readonly workspaceId: string
  readonly mode: Mode
  readonly workspaceName: string
  readonly role: Role
  readonly status: WorkspaceStatus
}

export const PlaceContext = createContext<Place | null>(null)

/** The workspace and mode of this page. Throws on pages of the installation, which have none. */
export function usePlace(): Place {
  const place = use(PlaceContext)
  if (place === null) throw new Error('this page has no workspace in its URL')
  return place
}

/** Input that every procedure of a workspace requires: `{ ...scope, id }`. */
export function useScope(): { readonly workspaceId: string; readonly mode: Mode } {
  const { workspaceId, mode } = usePlace()
  return { workspaceId, mode }
}

/**
 * Why the signed-in person may not do something here that requires this role, and works up to this status of the workspace; null when they
 * may. Hides what the server would refuse; it is not a security check.
 */
export function useRefusal(needed: Role, worksWhile: WorkspaceStatus = 'suspended'): string | null {
  const { role, status } = usePlace()
  if (!mayDo(role, needed)) return `Requires the ${ROLE_LABELS[needed]} role.`
  return worksIn(status, worksWhile) ? null : `This workspace is ${status}.`
}

/** Whether `useRefusal` has nothing to say. */
export function useMay(needed: Role, worksWhile?: WorkspaceStatus): boolean {
  return useRefusal(needed, worksWhile) === null
}

/** Makes the path of a page of this workspace and mode: `to('invoices', id)`, `to('webhooks/deliveries')`. */
export function useTo(): (page: string, id?: string) => string {
  const { workspaceId, mode } = usePlace()
  return (page, id) => placePath(workspaceId, mode, id === undefined ? page : `${page}/${encodeURIComponent(id)}`)
}

/** Path of a page: workspace and mode lead it, so that a link can never open in the wrong one. */
export function placePath(workspaceId: string, mode: Mode, page: string): string {
  return `/${workspaceId}/${mode}/${page}`
}
