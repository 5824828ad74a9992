/** The page to return to after a login: a path of this site, or the front page. A foreign URL in the link is ignored. */
export function safeBack(back: string | null): string {
  return back !== null && /^\/(?![/\\])/.test(back) && !/\p{Cc}/u.test(back) ? back : '/'
}
