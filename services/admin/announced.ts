import { type AnnouncedChanges, announcedChanges } from '#shared/usecases/workspaces/announced-changes.ts'
import type { AdminDeps } from './assemble.ts'

/** Repositories whose changes are mailed to every owner, for the use cases of this request. */
export function announced({ deps, ip }: { readonly deps: AdminDeps; readonly ip: string }): AnnouncedChanges {
  const { workspaces, ownersOf, operations, endpoints } = deps.instance
  return announcedChanges({ ...deps, workspaces, ownersOf, operations, endpoints }, ip)
}
