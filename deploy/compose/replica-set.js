// Run by mongosh in the service `mongo-init`: makes mongo-0, -1 and -2 (or the first MONGO_MEMBERS of them) one replica set and waits for
// its primary. A replica set that exists with fewer members, from serve.yaml, gets the others; none is ever removed.
// biome-ignore lint/style/noProcessEnv: a script of mongosh, which imports no configuration
const count = Number(process.env.MONGO_MEMBERS || 3)
const members = [0, 1, 2].slice(0, count).map((number) => ({ _id: number, host: `mongo-${number}:27017` }))
try {
  rs.status()
  print('the replica set exists')
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error
  rs.initiate({ _id: 'rs0', members })
}
for (let left = 60; !db.hello().isWritablePrimary && !db.hello().primary; left -= 1) {
  if (left === 0) throw new Error('the replica set has no primary after 60 s')
  sleep(1000)
}
// Only the primary adds members; another primary than mongo-0 means that they are there.
if (db.hello().isWritablePrimary) {
  const known = rs.conf().members.map(({ host }) => host)
  for (const { host } of members) if (!known.includes(host)) rs.add(host)
}
