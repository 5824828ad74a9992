import type { CallOptions, Transport } from './transport.ts'

/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[]
  /** Pass `next_cursor` as `cursor` for the next page. */
  readonly meta: { readonly next_cursor: string | null; readonly has_more: boolean }
  readonly requestId: string
}

/**
 * A list, newest first. `for await (const item of list)` walks all pages, each fetched when it is needed; `page()`
 * fetches only the first, or the one at the query's `cursor`. Nothing is sent before one of the two is called.
 */
export interface PaymeshList<T> extends AsyncIterable<T> {
  page(): Promise<Page<T>>
}

/** The transport refuses a page without `meta`. */
const END = { next_cursor: null, has_more: false }

/** The list at `path`; `query` is sent with each page. */
export function createList<T>(
  transport: Transport,
  path: string,
  query?: object,
  options?: CallOptions,
): PaymeshList<T> {
  const fetchPage = async (cursor?: string): Promise<Page<T>> => {
    const reply = await transport<readonly T[]>({
      isList: true,
      method: 'GET',
      path,
      query: cursor === undefined ? query : { ...query, cursor },
      options,
    })
    return { data: reply.data, meta: reply.meta ?? END, requestId: reply.request_id }
  }
  return {
    page: async () => await fetchPage(),
    async *[Symbol.asyncIterator]() {
      const passed = new Set<string>()
      let page = await fetchPage()
      while (true) {
        yield* page.data
        const cursor = page.meta.next_cursor
        if (!page.meta.has_more || cursor === null) return
        // A cursor that comes again would repeat the same items forever, and an empty page may never end.
        if (passed.has(cursor) || page.data.length === 0) throw new Error(`GET ${path}: the list does not advance`)
        passed.add(cursor)
        page = await fetchPage(cursor)
      }
    },
  }
}
