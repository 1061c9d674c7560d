// 关于事务的说法，中文。
import { say, type Said } from "../words/say";
import type { transactions as english } from "./en_transactions";

export const transactions: typeof english = {
  title: "事务：每个事务在等什么、花费多少",
  legend:
    "每个事务：其延迟（含重试）；服务器自己统计的同步次数、赛道设备上的刷写次数与字节数，以及客户端和服务器的 CPU 时间。对 SQLite，客户端时间包含数据库本身。重试指遇到死锁或数据库忙之后重做的事务，断开指丢失的连接，均为各轮总数。冷启动的组在测量中逐渐变热，起初为前十分之一时间内的速率。写入只计测量期间，总写入计到所有表都落盘为止。",
  heading: (title: Said, server: string, settings: string) => say`${title}：${server}，${settings}`,
  fitsPool: "缓冲池容得下全部数据：读取来自内存。",
  columns: {
    lane: "赛道",
    clients: "客户端",
    rate: "每秒",
    first: "起初",
    p50: "p50",
    p99: "p99",
    retries: "重试",
    lost: "断开",
    fsyncs: "每次同步数",
    fsync: "一次同步耗时",
    flushes: "每次刷写数",
    flush: "一次刷写耗时",
    written: "每次写入",
    inAll: "总写入",
    client: "每次客户端 CPU",
    server: "每次服务器 CPU",
  },
};
