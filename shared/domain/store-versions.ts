/** The stores of an installation, and the versions that Paymesh supports. */
export const STORE_VERSIONS = {
  /** `npm test` runs 6.0. */
  MongoDB: { min: [6n, 0n], testedMax: [6n, 0n] },
  /** `npm test` runs 7.0. BullMQ recommends 6.2 or later. */
  Redis: { min: [6n, 2n], testedMax: [7n, 0n] },
} as const satisfies Record<string, { readonly min: Version; readonly testedMax: Version }>

type Version = readonly [major: bigint, minor: bigint]

export type Store = keyof typeof STORE_VERSIONS

/** Classifies a version such as `7.0.15` by the table: `fault` when it is too old, `remark` when it cannot be read or is newer than what the tests run; null is a version that the store does not say. */
export function classifyVersion(store: Store, version: string | null) {
  const { min, testedMax } = STORE_VERSIONS[store]
  const found = /^(\d{1,4})\.(\d{1,4})/.exec(version ?? '')
  if (found === null) return { fault: null, remark: `the version of ${store} cannot be read` }
  const of = [BigInt(found[1] ?? ''), BigInt(found[2] ?? '')] as const
  if (isBefore(of, min))
    return { fault: `${store} ${version} is too old: ${store} ${min.join('.')} or later is supported`, remark: null }
  const isNewer = isBefore(testedMax, of)
  return { fault: null, remark: isNewer ? `newer than ${testedMax.join('.')}, which the tests run` : null }
}

const isBefore = (one: Version, other: Version): boolean =>
  one[0] < other[0] || (one[0] === other[0] && one[1] < other[1])
