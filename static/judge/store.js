// Storage of unsent verdicts: this browser's IndexedDB, each with its account and queue
// and the page that is to send it. If IndexedDB is not available, the page's memory.

const DATABASE = "soundings";
const RECORDS = "unsent";

/** Open the database; null if the browser does not allow one. */
export async function openDatabase() {
  try {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      const records = request.result.createObjectStore(RECORDS, { keyPath: "number", autoIncrement: true });
      records.createIndex("key", "operation.key", { unique: true });
    };
    const database = await answered(request);
    // Another version of this page may need to change the tables.
    database.onversionchange = () => database.close();
    return database;
  } catch {
    return null;
  }
}

/** All records: {number, account, name, queue, queueName, page, operation}, oldest first. */
export async function allRecords(database) {
  return answered(database.transaction(RECORDS).objectStore(RECORDS).getAll());
}

/**
 * The unsent verdicts of one account and queue; what is added here belongs to one page until it takes over
 * others'.
 */
export class IndexedStore {
  #database;
  #owner;
  #tabs;

  /** `owner`: {account, name, queue, queueName}. */
  constructor(database, owner, tabs) {
    this.#database = database;
    this.#owner = owner;
    this.#tabs = tabs;
  }

  /** Take over records of closed pages and return them, oldest first. */
  async load() {
    const waiting = (await allRecords(this.#database)).filter((record) => this.#isOurs(record));
    if (!waiting.length) return [];
    const alive = await this.#tabs.alive();
    return this.#write(async (records) => {
      const taken = (await answered(records.getAll())).filter(
        (record) => this.#isOurs(record) && !alive.has(record.page),
      );
      for (const record of taken) records.put({ ...record, page: this.#tabs.page });
      return taken.map((record) => record.operation);
    });
  }

  /** Resolves when the operation is on disk. */
  add(operation) {
    return this.#write((records) => records.add({ ...this.#owner, page: this.#tabs.page, operation }));
  }

  /** Resolves to whether this page's record of the operation still existed. */
  remove(key) {
    return this.#write(async (records) => {
      const record = await answered(records.index("key").get(key));
      if (record) records.delete(record.number);
      return record?.page === this.#tabs.page;
    });
  }

  #isOurs({ account, queue }) {
    return account === this.#owner.account && queue === this.#owner.queue;
  }

  async #write(work) {
    const transaction = this.#database.transaction(RECORDS, "readwrite", { durability: "strict" });
    const finished = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const [result] = await Promise.all([work(transaction.objectStore(RECORDS)), finished]);
    return result;
  }
}

/** Forgotten when the page closes. */
export class MemoryStore {
  async load() {
    return [];
  }

  async add() {}

  async remove() {
    return true;
  }
}

function answered(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
}
