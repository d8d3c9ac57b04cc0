// What hyparquet, @google-cloud/storage and @huggingface/hub read with a token: tokens.mjs BASE TOKEN FOLDER
import { createHash } from 'node:crypto'
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import { Storage } from '@google-cloud/storage'
import { listFiles } from '@huggingface/hub'
import { OAuth2Client } from 'google-auth-library'

const [base, token, own] = process.argv.slice(2)
const headers = { Authorization: `Bearer ${token}` }
const file = await asyncBufferFromUrl({ url: `${base}/minari-datasets/${own}/parquet/values.parquet`, requestInit: { headers } })
const rows = await parquetReadObjects({ file, columns: ['a'] })

const authClient = new OAuth2Client()
authClient.setCredentials({ access_token: token, expiry_date: Date.now() + 3600000 })
const bucket = new Storage({ apiEndpoint: base, useAuthWithCustomEndpoint: true, authClient, projectId: 'none' }).bucket('minari-datasets')
const [found] = await bucket.getFiles({ prefix: `${own}/door-human-v0/` })
const [bytes] = await bucket.file(`${own}/door-human-v0/data/main_data.hdf5`).download()

// its accessToken has to begin with hf_, so that the header is set where it fetches
const fetchWith = (url, init = {}) => { const all = new Headers(init.headers); all.set('Authorization', headers.Authorization); return fetch(url, { ...init, headers: all }) }
const files = []
for await (const f of listFiles({ repo: { type: 'dataset', name: `${own}/door-human-v0` }, recursive: true, hubUrl: base, fetch: fetchWith })) if (f.type === 'file') files.push(f.path)
console.log(JSON.stringify({ sum: rows.reduce((a, r) => a + Number(r.a), 0), names: found.map(f => f.name), sha256: createHash('sha256').update(bytes).digest('hex'), files: files.sort() }))
