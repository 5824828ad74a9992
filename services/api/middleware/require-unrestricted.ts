import { PaymeshError } from '#shared/contracts/errors.ts'
import type { RequestContext } from '../route.ts'

/** Throws `WORKSPACE_RESTRICTED` for a workspace that may not create resources. */
export function requireUnrestricted({ workspace }: Pick<RequestContext, 'workspace'>): void {
  if (workspace.status === 'restricted') throw new PaymeshError('WORKSPACE_RESTRICTED')
}
