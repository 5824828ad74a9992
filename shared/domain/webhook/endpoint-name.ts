/** Host and path of an endpoint's address; its query, which may hold a token, is left out. `null` is an endpoint that was deleted. */
export function hostAndPath(url: string | null): string {
  if (url === null) return 'a deleted endpoint'
  const [, host, path = ''] = /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#]+)([^?#]*)/i.exec(url) ?? []
  if (host === undefined) return url
  return path === '/' ? host : `${host}${path}`
}

/** An endpoint by its note, with its host and path: several endpoints often share a host, and some a note. */
export function endpointName(endpoint: { readonly url: string; readonly description: string | null } | null): string {
  const place = hostAndPath(endpoint?.url ?? null)
  const note = endpoint?.description?.trim() ?? ''
  return note === '' ? place : `${note} (${place})`
}
