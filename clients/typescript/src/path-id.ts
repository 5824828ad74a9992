/**
 * The id as part of a path. An id that is not a UUID would give another path (an empty one turns "get" into "list"), so
 * it throws a `TypeError` here.
 */
export function pathId(id: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw new TypeError(`not a resource id: ${id}`)
  return id
}
