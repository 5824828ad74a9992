import type { StoreRedundancy } from '#shared/ports/store-redundancy.ts'

/** Like the alerts MongoLags, OplogShort and DiskFilling (deploy/prometheus/alerts.yml). */
const LAG_MAX_MS = 60_000
const OPLOG_MIN_MS = 86_400_000
const DISK_USED_MAX = 0.85

const HOUR_MS = 3_600_000
const GIB = 2 ** 30

/** What the redundancy of the store comes to: `faults` need an operator, `facts` say how it is. Sentences without a full stop. What the store does not say is a fact, never a fault. Pure. */
export function redundancyHealth({ members, oplog, disk, isDenied }: StoreRedundancy) {
  const faults: string[] = []
  const facts: string[] = []
  if (members !== null) {
    const count = `${members.healthy} of ${members.total} members healthy`
    if (members.healthy < members.total) faults.push(`${count} (${members.faults.join('; ')}): repair it`)
    else facts.push(members.total === 1 ? 'one member' : count)
    if (members.lagMs > LAG_MAX_MS) faults.push(`a member is ${Math.round(members.lagMs / 1_000)} s behind the primary`)
    else if (members.total > 1) facts.push(`at most ${Math.round(members.lagMs / 1_000)} s behind`)
  }
  if (oplog !== null) {
    const text = `the oplog reaches back ${(oplog.windowMs / HOUR_MS).toFixed(1)} h`
    const isShort = oplog.truncations > 0 && oplog.windowMs < OPLOG_MIN_MS
    if (isShort) faults.push(`${text}, less than a day: enlarge it with replSetResizeOplog`)
    else facts.push(text)
  }
  const full = diskFault({ disk })
  if (full !== null) faults.push(full)
  else if (disk !== null) facts.push(diskText(disk))
  if (isDenied)
    facts.push(
      'members and oplog are not checked: give the database user the role clusterMonitor on admin (db.grantRolesToUser)',
    )
  return { faults, facts }
}

/** What is wrong with the disk of the store; null while it has space, and where the store does not say it. Pure. */
export function diskFault({ disk }: Pick<StoreRedundancy, 'disk'>): string | null {
  if (disk === null || disk.usedBytes / disk.totalBytes <= DISK_USED_MAX) return null
  return `${diskText(disk)}: enlarge it before MongoDB stops`
}

const diskText = ({ usedBytes, totalBytes }: NonNullable<StoreRedundancy['disk']>): string =>
  `the disk of MongoDB is ${Math.floor((100 * usedBytes) / totalBytes)} % full (of ${Math.round(totalBytes / GIB)} GiB)`
