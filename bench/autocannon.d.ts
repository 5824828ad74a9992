declare module 'autocannon' {
  /** The part of autocannon 9 that the benchmarks use. */
  interface Request {
    path: string
    headers: Readonly<Record<string, string>>
  }
  interface Options {
    url: string
    method: string
    connections: number
    duration: number
    body?: string
    requests: {
      setupRequest(request: Request): Request
    }[]
  }
  interface Result {
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
    readonly duration: number
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>
  }
  function autocannon(options: Options): Promise<Result>
  export = autocannon
}
