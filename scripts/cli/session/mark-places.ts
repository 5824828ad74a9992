import type { MarkPlace } from '#shared/ports/marks.ts'
import type { RedisConnections } from '#shared/queues/connection.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'

/** The places of marks that a command reads: Redis, where there is one, and the operator's folder. */
export function markPlacesOf(redis: RedisConnections | null, folder: string | null): readonly MarkPlace[] {
  return [
    ...(redis === null ? [] : [createRedisMarkPlace(redis)]),
    ...(folder === null ? [] : [createFolderMarkPlace(folder)]),
  ]
}
