import { useNetwork } from '@mantine/hooks'
import { IconWifiOff } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { showTime } from '../format/time.ts'
import { ZONE } from '../parts/time.tsx'

/** Says since when the page shows old state. Nothing on the page is blocked by it. */
export function OfflineNote() {
  const { online } = useNetwork()
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => setSince(online ? null : Date.now()), [online])
  if (since === null) return null
  return (
    <div className="pm-offline" role="status">
      <IconWifiOff size={16} aria-hidden />
      You are offline. Shown: state of {showTime(since, { zone: ZONE, now: since })}.
    </div>
  )
}
