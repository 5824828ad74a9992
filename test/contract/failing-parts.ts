import type { ApiDeps } from '#services/api/api-deps.ts'

/** Stops requests right before their outcome is written. */
export interface Gate {
  /** Resolves when the first request stands before the gate. */
  readonly arrived: Promise<void>
  /** Resolves when the gate is open. */
  pass(): Promise<void>
  open(): void
}

/** A closed gate. */
export function createGate(): Gate {
  let arrive = (): void => undefined
  let open = (): void => undefined
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const pass = (): Promise<void> => {
    arrive()
    return opened
  }
  return { arrived, pass, open: () => open() }
}

/** Creates of invoices and answers under an idempotency key wait at the gate before they are written. */
export function heldBy({ invoices, idempotency }: ApiDeps, gate: Gate): Partial<ApiDeps> {
  return {
    invoices: { ...invoices, insert: (invoice) => gate.pass().then(() => invoices.insert(invoice)) },
    idempotency: { ...idempotency, finish: (...outcome) => gate.pass().then(() => idempotency.finish(...outcome)) },
  }
}

/** A bucket that has no token left for any request, whatever came back since the last one. */
export function emptyBucket({ limiter }: ApiDeps): Partial<ApiDeps> {
  return {
    limiter: {
      ...limiter,
      admit: async (request) => {
        const taken = Array.from({ length: 64 }, () => limiter.admit({ ...request, marker: null }))
        const refused = (await Promise.all(taken)).find(({ allowed }) => !allowed)
        if (refused === undefined) throw new Error('the bucket never ran dry')
        return refused
      },
    },
  }
}

/** Every store of resources and prices fails with a text that must not leave the process. */
export function brokenDeps(deps: ApiDeps): Partial<ApiDeps> {
  const { invoices, payments, paymentLinks, products, endpoints, availability, rates } = deps
  return {
    invoices: broken(invoices),
    payments: broken(payments),
    paymentLinks: broken(paymentLinks),
    products: broken(products),
    endpoints: broken(endpoints),
    availability: broken(availability),
    rates: broken(rates),
  }
}

function broken<T extends object>(part: T): T {
  const fail = () => Promise.reject(new Error('mongodb://root:password@inside is down'))
  return Object.fromEntries(Object.keys(part).map((name) => [name, fail])) as T
}

/** A process that fails right behind one of its writes: the write has taken effect and nobody will ever hear of it. */
export interface Crash {
  /** Puts the crash into the parts of a process. */
  within(deps: ApiDeps): Partial<ApiDeps>
  /** The answer of the store to the n-th write of the request is lost. False when the request makes fewer writes. */
  losesAnswer(write: number, request: () => Promise<unknown>): Promise<boolean>
  /** The request stops for ever behind its n-th write. False when it makes fewer writes. */
  dies(write: number, request: () => Promise<unknown>): Promise<boolean>
}

/** A crash that is not armed yet; one request at a time may run into it. */
export function createCrash(): Crash {
  let writesLeft = 0
  let happen = (): Promise<never> => Promise.reject(new Error('the crash is not armed'))
  const arm = (write: number, what: typeof happen): void => {
    writesLeft = write
    happen = what
  }
  const behind =
    <A extends unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const result = await write(...args)
      writesLeft -= 1
      return writesLeft === 0 ? happen() : result
    }
  return {
    within: ({ invoices, payments, paymentLinks, products, endpoints, idempotency }) => ({
      invoices: { ...invoices, insert: behind(invoices.insert), save: behind(invoices.save) },
      payments: {
        ...payments,
        insertSimulated: behind(payments.insertSimulated),
        markApplied: behind(payments.markApplied),
      },
      paymentLinks: {
        ...paymentLinks,
        insert: behind(paymentLinks.insert),
        deactivate: behind(paymentLinks.deactivate),
      },
      products: { ...products, insert: behind(products.insert) },
      endpoints: { ...endpoints, insert: behind(endpoints.insert) },
      idempotency: { ...idempotency, finish: behind(idempotency.finish) },
    }),
    losesAnswer: async (write, request) => {
      arm(write, () => Promise.reject(new Error('the connection to the store broke')))
      await request()
      return writesLeft <= 0
    },
    dies: (write, request) =>
      new Promise((resolve) => {
        const never = new Promise<never>(() => undefined)
        arm(write, () => {
          resolve(true)
          return never
        })
        const answered = (): void => resolve(false)
        request().then(answered, answered)
      }),
  }
}
