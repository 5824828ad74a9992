// Lets writes into a folder fail as on a full disk, for a test that may not mount a small one. Loaded before a command by `--import`; SMALL_DISK
// names the folder, and SMALL_DISK_BYTES how many bytes fit into it.
import fs from 'node:fs'

const { SMALL_DISK = '', SMALL_DISK_BYTES = '' } = process.env
let left = Number(SMALL_DISK_BYTES)

const sizeOf = (data) => (Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.length)

for (const name of ['write', 'writev']) {
  const real = fs[name]
  // Streams of `createWriteStream` write with these functions.
  fs[name] = (file, data, ...rest) => {
    if (!fs.readlinkSync(`/proc/self/fd/${file}`).startsWith(SMALL_DISK)) return real(file, data, ...rest)
    left -= sizeOf(data)
    if (left >= 0) return real(file, data, ...rest)
    const words = `ENOSPC: no space left on device, ${name}`
    setImmediate(rest.at(-1), Object.assign(new Error(words), { code: 'ENOSPC', errno: -28, syscall: name }))
  }
}
