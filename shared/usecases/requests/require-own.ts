import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

/**
 * What was read, if it is of this workspace and of this mode or both. Throws `NOT_FOUND` for what does not exist and for what belongs to others,
 * so that the two look alike.
 */
export function requireOwn<T extends { readonly workspaceId: string | null; readonly mode: Mode | 'both' | null }>(
  found: T | null | undefined,
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
): T {
  if (found?.workspaceId !== workspaceId || (found.mode !== mode && found.mode !== 'both'))
    throw new PaymeshError('NOT_FOUND')
  return found
}
