import type { Kicker } from '#shared/ports/runtime.ts'
import { type AnnouncedChanges, announcedChanges } from '#shared/usecases/workspaces/announced-changes.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import type { Installation } from './installation.ts'

/** The mailer finds mails without a wake-up, so that a command needs no Redis for them. */
const NO_WAKE_UP: Kicker = { kick: () => undefined }

/** Repositories whose changes are mailed to every owner, as those from the dashboard are. */
export function announced(installation: Installation): AnnouncedChanges {
  const ownersOf = (workspaceId: string) => ownersOfWorkspace(installation, workspaceId)
  return announcedChanges({ ...installation, ownersOf, kicker: NO_WAKE_UP }, 'the command line of the installation')
}
